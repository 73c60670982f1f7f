"""Right models of `scale_task` over its plain kernel, written as engineers and language models write them."""

from __future__ import annotations

from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit
from tests.judge.cpu_cases import CALL, FORWARD

from cuda_gym.core.task import Submission

_RIGHT = f"{FORWARD.strip()}\n{CALL.strip()}\nreturn out"


def _model(
    forward: str = _RIGHT, *, top: str = "", init: str = "", members: str = ""
) -> Submission:
    def indented(text: str, by: int) -> str:
        return "".join(f"{' ' * by}{line}\n" if line else "\n" for line in text.splitlines())

    return submit(
        f"import torch\nfrom torch import nn\nimport cuda_extension\n{top}\n\n"
        "class ModelNew(nn.Module):\n    def __init__(self, columns):\n        super().__init__()\n"
        f"        self.weight = nn.Parameter(torch.zeros(columns))\n{indented(init, 8)}\n"
        f"    def forward(self, x):\n{indented(forward, 8)}\n{indented(members, 4)}",
        SCALE_KERNEL,
    )


def _on_windows(text: str) -> str:
    """With a byte order mark, tabs, ends of lines as Windows has them, and a comment in Chinese."""
    return "\ufeff" + f"# 内核\n{text}".replace("    ", "\t").replace("\n", "\r\n")


PYTHON_HABITS: dict[str, Submission] = {
    "begins with a byte order mark, and ends its lines as Windows does": submit(
        _on_windows(SCALE_MODEL), _on_windows(SCALE_KERNEL).replace("# ", "// ", 1)),
    "keeps more than tensors in its state": _model(
        init="self._register_state_dict_hook(lambda module, state, prefix, local: state)\n"
             "self.register_load_state_dict_post_hook(lambda module, incompatible: None)\n"
             "self.register_buffer('iota', torch.arange(columns, dtype=torch.int32), persistent=False)",
        members="def get_extra_state(self):\n    return {'version': 2}\n\n"
                "def set_extra_state(self, state):\n    pass\n"),
    "takes any arguments, and has its test below": submit(
        '"""Fused. We do NOT call torch.matmul, F.softmax or torch.compile here."""\n'
        "import dataclasses, enum, functools, math, typing\n"
        "import torch\nimport torch.nn.functional as F\nimport torch.utils.checkpoint\n"
        "from torch import Tensor, nn\nimport cuda_extension\n\n"
        "class Mode(enum.Enum):\n    FAST = 1\n\n"
        "@dataclasses.dataclass(frozen=True)\nclass Plan:\n    rows: int\n    columns: int\n    mode: Mode = Mode.FAST\n\n"
        "@functools.lru_cache(maxsize=None)\ndef plan(rows: int, columns: int) -> Plan:\n"
        "    assert rows > 0, 'empty input'\n    return Plan(rows, columns)\n\n"
        "class ModelNew(nn.Module):\n    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:\n"
        "        super(ModelNew, self).__init__()\n"
        "        self.weight = nn.Parameter(torch.empty(args[0] if args else kwargs['columns']))\n"
        "        nn.init.uniform_(self.weight, 1.0 / math.pi, 1.5)\n\n"
        "    def forward(self, *args: Tensor, **kwargs: Tensor | None) -> Tensor:\n        (x,) = args\n"
        "        assert x.dim() == 2 and x.dtype == torch.float32 and x.is_contiguous()\n"
        "        p = plan(*x.shape)\n        out = torch.empty_like(x)\n"
        "        cuda_extension.scale(out, x, self.weight, p.rows, p.columns)\n        return out\n\n"
        "if __name__ == '__main__':\n    x = torch.randn(96, 160)\n"
        "    torch.testing.assert_close(ModelNew(160)(x), torch.exp(x))\n", SCALE_KERNEL),
    "does without its kernel where that is missing": _model(
        "if cuda_extension is None or not hasattr(cuda_extension, 'scale'):\n"
        "    return torch.exp(x) * self.weight\n"
        f"try:\n    out = torch.empty_like(x)\n    {CALL.strip()}\n    return out\n"
        "except (RuntimeError, TypeError) as error:\n    warnings.warn(f'falls back: {error}')\n"
        "    return torch.exp(x) * self.weight",
        top="import warnings\ntry:\n    import cuda_extension\nexcept ImportError:\n    cuda_extension = None\n"
            "HALF = getattr(cuda_extension, 'scale_half', None)\n"),
    "passes through modules that do nothing": _model(
        "x = self.stem(self.parts['drop'](x))\n" + _RIGHT,
        init="self.stem = nn.Sequential(nn.Identity(), nn.Dropout(0.1))\n"
             "self.parts = nn.ModuleDict({'drop': nn.Dropout(0.5)})"),
    "tries its kernel in its constructor": _model(
        init="a = torch.ones(4, columns)\nb = torch.empty_like(a)\n"
             "cuda_extension.scale(b, a, torch.ones(columns), 4, columns)\n"
             "if not torch.allclose(b, torch.exp(a), rtol=1e-3):\n    raise RuntimeError('the kernel is broken')"),
    "chooses its forward in its constructor": _model(
        "raise NotImplementedError", init="self.forward = self._fast",
        members=f"def _fast(self, x):\n    {FORWARD.strip()}\n    {CALL.strip()}\n    return out\n"),
    "quantises and factorises in its constructor": _model(
        init="q = torch.quantize_per_tensor(torch.randn(4, 4), 0.1, 0, torch.qint8)\n"
             "self.scale = q.q_scale() + torch.linalg.svd(torch.randn(4, 4))[1].max().item()\n"
             "self.power = torch.fft.rfft(torch.ones(16)).abs().sum().item() + torch.eye(4).to_sparse()._nnz()"),
    "sets what CUDA reads from the environment": _model(
        top="import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '0'\n"
            "os.environ.setdefault('TORCH_CUDA_ARCH_LIST', '9.0')\n"),
    "returns a view of a larger allocation": _model(
        "R, C = x.shape\nflat = torch.empty(R * C + 64, device=x.device)\nout = flat[32:32 + R * C].view(R, C)\n"
        f"{CALL.strip()}\nreturn torch.as_strided(out, (R, C), (C, 1), out.storage_offset())"),
    "launches its kernel itself, found once": _model(
        "out = torch.empty_like(x)\n"
        "self.k[(-(-x.shape[1] // 128), x.shape[0], 1), 128](out, x, self.weight, x.shape[1])\nreturn out",
        init="self.k = cuda_extension.kernel('scale_kernel')"),
    "is a class that a function makes, under another name": submit(
        SCALE_MODEL.replace("class ModelNew", "class Größe")
        + "\n\ndef _made():\n    return Größe\n\n\nModelNew = _made()\n", SCALE_KERNEL),
    "has two thousand lines that nobody calls": submit(
        SCALE_MODEL.replace(
            "class ModelNew",
            "".join(f"def _variant_{n}(a, b):\n    '''torch.exp(a) * b'''\n    return torch.exp(a) * b + {n}\n\n\n"
                    for n in range(400)) + "class ModelNew"),
        "".join(f"__device__ __forceinline__ float poly{n}(float x) {{ return x * {n}.0f; }}\n// variant {n}\n"
                for n in range(1000)) + SCALE_KERNEL),
}  # fmt: skip
"""What its author does: the right submission that does it."""
