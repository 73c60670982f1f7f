"""Right models of `scale_task` over its plain kernel, whose Python looks like something else."""

from __future__ import annotations

from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit
from tests.judge.cpu_cases import CALL, FORWARD, model_with

from cuda_gym.core.task import Submission

_RIGHT = f"{FORWARD.strip()}\n{CALL.strip()}\nreturn out"
_INIT = "        self.weight = nn.Parameter(torch.zeros(columns))\n"


def _with_init(lines: str, forward: str = _RIGHT, *, top: str = "") -> Submission:
    """The right submission with more lines in its constructor, and another body of forward."""
    model = model_with(forward, top=top).text("model_new.py") or ""
    more = "".join(f"        {line}\n" for line in lines.splitlines())
    return submit(model.replace(_INIT, _INIT + more), SCALE_KERNEL)


def _with_class(members: str, forward: str, *, top: str = "") -> Submission:
    """The right submission with more members of its class, and another body of forward."""
    model = model_with(forward, top=top).text("model_new.py") or ""
    more = "\n" + "".join(f"    {line}\n" if line else "\n" for line in members.splitlines())
    return submit(model + more, SCALE_KERNEL)


MODELS: dict[str, Submission] = {
    # what is imported, and what things are called
    "tries to import a library that it does without": model_with(
        _RIGHT, top="try:\n    import triton\nexcept ImportError:\n    triton = None\n"),
    "asks whether a library is there": model_with(
        _RIGHT,
        top="try:\n    import numba\nexcept ImportError:\n    numba = None\n"
            "HAS_NUMBA = numba is not None\n"),
    "imports numpy for a type": model_with(
        _RIGHT,
        top="from __future__ import annotations\n"
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy as np\n"
            "def widths(array: np.ndarray) -> list[int]:\n    return list(array.shape)\n"),
    "mentions what is forbidden in its comments": model_with(
        "# torch.compile, ctypes.CDLL('x.so'), os.system('nvcc') and subprocess are not needed here\n"
        f"{_RIGHT}",
        top='"""Instead of torch.exp(x) * w; no torch.library, no numpy(), no fork()."""\n'),
    "has methods named like what is forbidden": _with_class(
        "def compile(self):\n    return self.exec\n\n"
        "def exec(self, x):\n    out = torch.empty_like(x)\n"
        "    cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])\n    return out\n\n"
        "def system(self, x):\n    return self.compile()(x)\n",
        "return self.system(x)"),
    "sets flags of torch that mean nothing to it": model_with(
        _RIGHT,
        top="import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
            "torch.backends.cudnn.benchmark = True\ntorch.set_grad_enabled(False)\n"),
    "asks torch for what loads more of Python": model_with(
        _RIGHT,
        top="import cProfile\nimport torch\nimport torch._dynamo\ntorch.use_deterministic_algorithms(True)\n"),
    "reads the environment for a debug switch": model_with(
        f"if DEBUG:\n    print(x.shape)\n{_RIGHT}",
        top="import os\nimport sys\nDEBUG = os.environ.get('DEBUG') == '1' or 'pdb' in sys.modules\n"),
    "computes in its constructor, with operators that compile themselves": _with_init(
        "picture = torch.randn(1, 1, 8, 8)\n"
        "self.size = nn.Conv2d(1, 2, 3)(picture).numel() + nn.GRU(4, 4)(torch.randn(2, 1, 4))[0].numel()\n"
        "self.bag = nn.EmbeddingBag(9, 4)(torch.tensor([[1, 2]])).shape\n"
        "self.shape = (nn.functional.gelu(picture[0, 0]).bfloat16() @ torch.ones(8, 2).bfloat16()).shape\n"
        "self.parts = statistics.median([decimal.Decimal(1), decimal.Decimal(2)])",
        top="import decimal\nimport statistics\nimport zlib\n"),
    # a way round that is never taken
    "falls back to torch where its kernel cannot run": model_with(
        f"if x.dtype != torch.float32 or x.numel() >= 2**31:\n    return torch.exp(x) * self.weight\n{_RIGHT}"),
    "falls back to torch for a tensor that it cannot read": model_with(
        "try:\n    assert x.is_contiguous()\nexcept AssertionError:\n"
        f"    return torch.exp(x) * self.weight\n{_RIGHT}"),
    # state from call to call
    "counts its calls": _with_init("self.calls = 0", f"self.calls += 1\n{_RIGHT}"),
    "keeps a table of launches by shape": _with_init(
        "self.sizes = {}",
        "if x.shape not in self.sizes:\n    self.sizes[x.shape] = tuple(x.shape)\n"
        "rows, columns = self.sizes[x.shape]\nout = torch.empty_like(x)\n"
        "cuda_extension.scale(out, x, self.weight, rows, columns)\nreturn out"),
    "allocates its output once a shape": _with_init(
        "self.outs = {}",
        "out = self.outs.get(x.shape)\nif out is None:\n    out = self.outs[x.shape] = torch.empty_like(x)\n"
        f"{CALL.strip()}\nreturn out"),
    "returns one of two outputs in turn": _with_init(
        "self.outs, self.turn = {}, 0",
        "self.turn = 1 - self.turn\nkey = x.shape, self.turn\n"
        "if key not in self.outs:\n    self.outs[key] = torch.empty_like(x)\nout = self.outs[key]\n"
        f"{CALL.strip()}\nreturn out"),
    "holds a scratch tensor that it computes through": _with_init(
        "self.scratch = None",
        "if self.scratch is None or self.scratch.shape != x.shape:\n    self.scratch = torch.empty_like(x)\n"
        "cuda_extension.scale(self.scratch, x, self.weight, x.shape[0], x.shape[1])\n" + _RIGHT),
    "registers a buffer that is no part of its state": _with_init(
        "self.register_buffer('ones', torch.ones(columns), persistent=False)"),
    "times itself": _with_init(
        "self.took_ns = []",
        "start = time.perf_counter_ns()\n"
        f"{FORWARD.strip()}\n{CALL.strip()}\n"
        "self.took_ns.append(time.perf_counter_ns() - start)\nreturn out", top="import time\n"),
    "packs its weights in prepare()": _with_class(
        "def prepare(self):\n    self.packed = self.weight.detach()\n",
        "out = torch.empty_like(x)\n"
        "cuda_extension.scale(out, x, self.packed, x.shape[0], x.shape[1])\nreturn out"),
    # how the kernel is reached
    "chooses its launcher from a table": model_with(
        "out = torch.empty_like(x)\n"
        "LAUNCHERS[x.dtype](out, x, self.weight, x.shape[0], x.shape[1])\nreturn out",
        top="import cuda_extension\nimport torch\nLAUNCHERS = {torch.float32: cuda_extension.scale}\n"),
    "finds its launcher by a name that it puts together": model_with(
        "out = torch.empty_like(x)\nname = 'sca' + 'le'\n"
        "getattr(cuda_extension, name)(out, x, self.weight, *x.shape)\nreturn out"),
    "is an autograd function": model_with(
        "return Scale.apply(x, self.weight)",
        top="import cuda_extension\nimport torch\n"
            "class Scale(torch.autograd.Function):\n    @staticmethod\n"
            "    def forward(ctx, x, weight):\n        ctx.save_for_backward(x, weight)\n"
            "        out = torch.empty_like(x)\n"
            "        cuda_extension.scale(out, x, weight, x.shape[0], x.shape[1])\n        return out\n"),
    "computes row by row in views": model_with(
        "out = torch.empty_like(x)\nfor i in range(0, x.shape[0], 16):\n"
        "    piece = x[i:i + 16]\n"
        "    cuda_extension.scale(out[i:i + 16], piece, self.weight, piece.shape[0], x.shape[1])\nreturn out"),
    "asks torch for what there is already": model_with(
        "x = x.contiguous().to(torch.float32).reshape(-1, x.shape[-1])\n"
        f"{FORWARD.strip()}\n{CALL.strip()}\nreturn out.view(x.shape)"),
    "zeroes an output before it is written": model_with(
        f"out = torch.zeros_like(x)\n{CALL.strip()}\nreturn out"),
    "calls forward through hooks": _with_init(
        "self.register_forward_pre_hook(lambda module, args: None)\n"
        "self.register_forward_hook(lambda module, args, out: out)"),
    "runs under inference mode": _with_class(
        "@torch.inference_mode()\ndef run(self, x):\n    out = torch.empty_like(x)\n"
        "    cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])\n    return out\n",
        "return self.run(x)"),
    "holds locks and a log": model_with(
        f"with LOCK:\n    logging.getLogger('model').info('call %s', x.shape)\n{_RIGHT}",
        top="import logging\nimport threading\nLOCK = threading.Lock()\n"),
    "brings the reference along": submit(
        SCALE_MODEL + "\n\nclass Model(nn.Module):\n"
        "    def forward(self, x, weight):\n        return torch.exp(x) * weight\n", SCALE_KERNEL),
}  # fmt: skip
"""A reason to suspect it: the right submission that gives it."""
