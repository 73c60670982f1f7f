from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

# The rule holds for a whole process and for good, so every case below runs in one child.
PREPARE = """
import gc, json, sys, warnings
warnings.simplefilter("ignore")
import torch
from torch.nn import functional as F
from cuda_gym.judge.sandbox.torch_operators import refuse_torch_operators, rehearse_refusal

torch.set_num_threads(1)
rehearse_refusal("cpu")  # all that follows works as if it had not been
x, y = torch.randn(4, 6), torch.randn(6, 4)
out, weight = torch.empty(4, 6), torch.nn.Parameter(torch.randn(6, 6))
linear, relu, identity = torch.nn.Linear(6, 3), torch.nn.ReLU(), torch.nn.Identity()
conv, image = torch.nn.Conv2d(2, 3, 3), torch.randn(1, 2, 8, 8)
dropout = torch.nn.Dropout(0.5).eval()
traced = torch.jit.trace(lambda a: a.relu() + 1, (x,))
compiled = torch.compile(lambda a: a * 2, backend="eager")
compiled(x)
sparse = x.to_sparse()
seen = []
num_replaced = refuse_torch_operators("cpu", on_refusal=lambda name, advice: seen.append(name))
gc.collect()

def attempt(expression):
    try:
        eval(expression)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
"""

FORBIDDEN = {
    "torch.relu(x)": "torch.relu",
    "x.relu()": "torch.relu",
    "x.relu_()": "torch.relu_",
    "F.relu(x)": "torch.relu",
    "relu(x)": "torch.relu",
    "torch.ops.aten.relu(x)": "torch.relu",
    "torch.ops.aten.relu.default(x)": "torch.relu",
    "x @ y": "torch.matmul",
    "torch.mm(x, y)": "torch.mm",
    "torch.mm(x, y, out=torch.empty(4, 4))": "torch.mm",
    "x + 1": "torch.add",
    "x.add_(1)": "torch.add_",
    "torch.add(x, x, out=out)": "torch.add",
    "x.sum()": "torch.sum",
    "x.softmax(-1)": "torch.softmax",
    "x > 0": "torch.gt",
    "torch.where(x.view(torch.bool)[:, :6], x, x)": "torch.where",
    "linear(x)": "torch.linear",
    "conv(image)": "torch.conv2d",
    "F.layer_norm(x, (6,))": "torch.layer_norm",
    "F.scaled_dot_product_attention(x, x, x)": "torch.scaled_dot_product_attention",
    "F.gelu(weight)": "torch.gelu",
    "torch.cat([x, x])": "torch.cat",
    "torch.sort(x)": "torch.sort",
    "x[x.view(torch.int32).long()]": "torch.Tensor.to",
    "x.clone()": "torch.clone",
    "x.t().contiguous()": "torch.clone",
    "x.t().reshape(-1)": "torch.clone",
    "out.copy_(x)": "torch.Tensor.copy_",
    "out.__setitem__(slice(None), x)": "torch.Tensor.copy_",
    "x.half()": "torch.Tensor.to",
    "x.sum().item()": "torch.sum",
    "float(x[0, 0])": "torch.item",
    "bool(x[0, 0])": "torch.is_nonzero",
    "torch.equal(x, x)": "torch.equal",
    "torch.randn(3)": "torch.randn",
    "torch.arange(3)": "torch.arange",
    "torch.fft.fft(x)": "torch.fft_fft",
    "torch.linalg.norm(x)": "torch.linalg_norm",
    "F.dropout(x, 0.5, True)": "torch.bernoulli_",
    "traced(x)": "torch.relu",
    "compiled(x)": "torch.mul",
    "torch.vmap(torch.sin)(x)": "torch.sin",
    "torch.ops.prims.sin(x)": "torch.ops.prims.sin",
    "torch.ops.mkldnn._linear_pointwise(x, weight, None, 'none', [], '')": (
        "torch.ops.mkldnn._linear_pointwise"
    ),
    "x.to_mkldnn()": "torch.to_mkldnn",
    "torch.mm(sparse, y)": "torch.mm",
    "sparse.to_dense()": "torch._to_dense",
    "torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)": "torch.quantize_per_tensor",
}
ALLOWED = [
    "torch.empty(3, 4)",
    "torch.empty_like(x)",
    "torch.empty_strided((2, 3), (3, 1))",
    "x.new_empty(2)",
    "torch.zeros(3)",
    "torch.zeros_like(x)",
    "torch.ones(3, dtype=torch.int64)",
    "torch.full((2, 2), float('-inf'))",
    "out.zero_()",
    "out.fill_(0.5)",
    "torch.tensor([1.0, 2.0])",
    "x.view(-1)",
    "x.view(torch.int32)",
    "x.reshape(2, 12)",
    "x.flatten()",
    "x.permute(1, 0)",
    "x.t()",
    "x.T",
    "x.mT",
    "x.transpose(0, 1)",
    "x[0]",
    "x[1:3, ::2]",
    "x[..., None]",
    "x.select(0, 1)",
    "x.narrow(0, 1, 2)",
    "x.split(2)",
    "x.chunk(2)",
    "x.unbind()",
    "x.squeeze().unsqueeze(0)",
    "x.expand(2, 4, 6)",
    "x.unfold(0, 2, 1)",
    "x.as_strided((2,), (1,))",
    "x.detach()",
    "weight.data",
    "x.contiguous()",
    "x.to(torch.float32)",
    "x.float().cpu()",
    "identity(dropout(x))",
    "(x.shape, x.size(0), x.stride(), x.numel(), x.dim(), x.is_contiguous(), x.dtype)",
    "(x.data_ptr(), x.storage_offset(), x.untyped_storage().nbytes(), x.is_floating_point())",
]
CONTEXTS = ["torch.enable_grad", "torch.no_grad", "torch.inference_mode"]


def run_child(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PREPARE + script], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def results() -> dict[str, dict[str, str | None]]:
    """What each expression gave, in each context; and what was reported."""
    script = f"""
results = {{"replaced": {{"": str(num_replaced)}}}}
for context in {CONTEXTS!r}:
    with eval(context)():
        results[context] = {{text: attempt(text) for text in {[*FORBIDDEN, *ALLOWED]!r}}}
results["seen"] = dict.fromkeys(seen)
print(json.dumps(results))
"""
    answer: dict[str, dict[str, str | None]] = json.loads(run_child(script))
    return answer


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("expression", FORBIDDEN)
def test_what_computes_is_refused_however_it_is_reached(expression: str, context: str) -> None:
    answer = results()[context][expression]
    name = FORBIDDEN[expression]
    assert answer is not None
    assert answer.startswith("RuntimeError: ")
    assert f"{name} is not allowed in forward or prepare: " in answer
    assert name in results()["seen"]


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("expression", ALLOWED)
def test_what_allocates_or_views_works(expression: str, context: str) -> None:
    assert results()[context][expression] is None


def test_thousands_of_kernels_are_replaced() -> None:
    assert int(results()["replaced"][""] or 0) > 2500


def test_the_advice_fits_the_operator() -> None:
    answers = results()["torch.no_grad"]
    assert "in a kernel under kernels/" in str(answers["x.relu()"])
    assert "pass the strides" in str(answers["x.t().contiguous()"])
    assert "stays on the device" in str(answers["float(x[0, 0])"])


def test_no_object_that_python_can_find_undoes_the_refusal() -> None:
    script = """
for thing in gc.get_objects():
    if isinstance(thing, (torch.library.Library, torch._C._DispatchModule)):
        reset = getattr(thing, "reset", None) or thing._destroy
        reset()
import cuda_gym.judge.sandbox.torch_operators as rule
for name in [name for name in vars(rule) if not name.startswith("__")]:
    delattr(rule, name)
del sys.modules[rule.__name__], rule, refuse_torch_operators, rehearse_refusal
gc.collect()
print(attempt("x.relu()"), attempt("x @ y"), attempt("x.view(-1)"))
"""
    answer = run_child(script)
    assert answer.count("is not allowed in forward") == 2
    assert answer.endswith("None\n")


def test_what_was_rehearsed_touches_few_pages_that_a_forked_process_does_not_own() -> None:
    def faults(rehearsal: str) -> int:
        told = subprocess.run(
            [sys.executable, "-c", _FORKED.format(rehearsal=rehearsal)],
            capture_output=True, text=True, check=True, timeout=100,
        )  # fmt: skip
        return int(told.stdout)

    assert faults("rehearse_refusal('cpu')") < faults("pass") / 10


_FORKED = """
import os, resource, sys
from cuda_gym.judge.sandbox.torch_operators import (
    kernels_to_refuse, refuse_torch_operators, rehearse_refusal
)

kernels_to_refuse("cpu")
if pid := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
{rehearsal}
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
refuse_torch_operators("cpu", on_refusal=lambda name, advice: None)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, flush=True)
os._exit(0)
"""
