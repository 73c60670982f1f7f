from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
import torch

from cuda_gym.judge.toolchains.cuda_library import library_calls

# torch's operators refuse for good once they do, so one child computes what is expected, lets them
# refuse, and then calls the library.
SCRIPT = """
import json, torch
from cuda_gym.judge.sandbox.torch_operators import refuse_torch_operators
from cuda_gym.judge.toolchains.cuda_library import library_calls

torch.manual_seed(0)
torch.set_num_threads(1)
told = []
calls = library_calls(("gemm", "bmm", "conv"), told.append)
gemm, bmm, conv = calls["gemm"], calls["bmm"], calls["conv"]
conv_of = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
cases = {}
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    def rand(*shape):
        return torch.randn(*shape).to(dtype)
    a, b, bias, out = rand(33, 20), rand(20, 17), rand(17), torch.empty(33, 17, dtype=dtype)
    at, bt, bias2 = rand(20, 33), rand(17, 20), rand(33, 17)
    strided = rand(33, 40)[:, ::2]
    p, q = rand(3, 5, 6), rand(3, 7, 6).transpose(1, 2)
    cases |= {
        f"gemm {dtype}": (gemm, (a, b), {}, a @ b),
        f"gemm out {dtype}": (gemm, (a, b), {"out": out}, a @ b),
        f"gemm bias {dtype}": (gemm, (a, b), {"bias": bias}, torch.addmm(bias, a, b)),
        f"gemm full bias {dtype}": (gemm, (a, b), {"bias": bias2}, torch.addmm(bias2, a, b)),
        f"gemm transposed {dtype}": (
            gemm, (at, bt), {"transpose_a": True, "transpose_b": True}, at.t() @ bt.t()
        ),
        f"gemm expanded {dtype}": (gemm, (a[:1].expand(9, 20), b), {}, a[:1].expand(9, 20) @ b),
        f"gemm sliced {dtype}": (gemm, (a[:, 3:13], b[:10]), {}, a[:, 3:13] @ b[:10]),
        f"gemm strided {dtype}": (gemm, (strided, b), {}, strided @ b),
        f"bmm {dtype}": (bmm, (p, q), {}, torch.bmm(p, q)),
        f"bmm strided {dtype}": (bmm, (p[..., ::2], q[:, ::2]), {}, torch.bmm(p[..., ::2], q[:, ::2])),
        f"bmm out {dtype}": (bmm, (p, q), {"out": torch.empty(3, 5, 7, dtype=dtype)}, torch.bmm(p, q)),
    }
    for dims, shape, kernel in ((1, (20,), (3,)), (2, (9, 11), (3, 2)), (3, (5, 6, 7), (2, 3, 2))):
        x, w, wg, c = rand(2, 4, *shape), rand(6, 4, *kernel), rand(6, 2, *kernel), rand(6)
        xs = rand(2, 4, *shape[:-1], 2 * shape[-1])[..., ::2]
        f = conv_of[dims]
        options = {"stride": 2, "padding": 1, "dilation": 2}
        cases |= {
            f"conv{dims}d {dtype}": (conv, (x, w), {}, f(x, w)),
            f"conv{dims}d bias {dtype}": (conv, (x, w, c), {}, f(x, w, c)),
            f"conv{dims}d options {dtype}": (conv, (x, w, c), options, f(x, w, c, **options)),
            f"conv{dims}d groups {dtype}": (conv, (x, wg, c), {"groups": 2}, f(x, wg, c, groups=2)),
            f"conv{dims}d strided {dtype}": (conv, (xs, w, c), {}, f(xs, w, c)),
            f"conv{dims}d out {dtype}": (
                conv, (x, w, c), {"out": torch.empty_like(f(x, w, c))}, f(x, w, c)
            ),
        }
expected = {name: case[3].double().flatten().tolist() for name, case in cases.items()}
shapes = {name: list(case[3].shape) for name, case in cases.items()}
refuse_torch_operators(on_refusal=lambda name, advice: None)
results = {}
for name, (call, arguments, named, _) in cases.items():
    try:
        y = call(*arguments, **named)
        same = y is named.get("out", y)
        worst = max(abs(g - e) / (1 + abs(e)) for g, e in zip(y.flatten().tolist(), expected[name]))
        results[name] = {"worst": worst, "as_asked": same and list(y.shape) == shapes[name]}
    except Exception as error:
        results[name] = {"error": repr(error)}
try:
    torch.mm(a, b)
except RuntimeError as error:
    results["still refused"] = {"error": str(error)}
results["told"] = told
print(json.dumps(results))
"""
DTYPES = {"float32": 1e-5, "float64": 1e-12, "float16": 2e-2, "bfloat16": 1e-1}
CASES = ["gemm", "gemm out", "gemm bias", "gemm full bias", "gemm transposed", "gemm strided"]
CASES += ["gemm expanded", "gemm sliced"]
CASES += ["bmm", "bmm strided", "bmm out"]
CASES += [
    f"conv{dims}d{kind}"
    for dims in (1, 2, 3)
    for kind in ("", " bias", " options", " groups", " strided", " out")
]


@cache
def results() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_the_library_computes_while_torch_refuses(case: str, dtype: str) -> None:
    result = results()[f"{case} torch.{dtype}"]
    assert "error" not in result
    assert result["as_asked"]
    assert result["worst"] <= DTYPES[dtype]


def test_torch_refuses_after_a_library_call() -> None:
    assert "torch.mm is not allowed" in results()["still refused"]["error"]


def test_every_call_is_told() -> None:
    assert len(results()["told"]) == len(CASES) * len(DTYPES)


def calls() -> Any:
    return library_calls(("gemm", "bmm", "conv"), lambda name: None)


A, IMAGE, WEIGHT = torch.zeros(2, 3), torch.zeros(1, 4, 8, 8), torch.zeros(6, 4, 3, 3)


@pytest.mark.parametrize(
    ("name", "arguments", "named", "kind", "fact"),
    [
        ("gemm", (A, A), {}, ValueError, "a is [2, 3] and b is [2, 3]"),
        ("gemm", (A[0], A), {}, ValueError, "a is [3]; it must have 2 dimensions"),
        ("gemm", (A, A.t().double()), {}, TypeError, "b is torch.float64; all tensors"),
        ("gemm", (A.int(), A.t().int()), {}, TypeError, "a is torch.int32"),
        ("gemm", (A.to("meta"), A.t()), {}, ValueError, "a is not a dense tensor on the cpu"),
        ("gemm", ([[1.0]], A), {}, TypeError, "a is a list"),
        ("gemm", (A, A.t()), {"out": torch.zeros(3, 3)}, ValueError, "contiguous and [2, 2]"),
        ("bmm", (A[None], A[None]), {}, ValueError, "a is [1, 2, 3]"),
        ("conv", (IMAGE, WEIGHT[:, :3]), {}, ValueError, "x has 4 channels"),
        ("conv", (IMAGE, WEIGHT), {"groups": 0}, ValueError, "groups=0"),
        ("conv", (IMAGE, WEIGHT[0]), {}, ValueError, "3, 4 or 5 dimensions"),
        ("conv", (IMAGE, WEIGHT, torch.zeros(4)), {}, ValueError, "bias is [4]; it must be [6]"),
        ("conv", (IMAGE, WEIGHT), {"stride": (1, 2, 3)}, ValueError, "(1, 2, 3)"),
        ("conv", (IMAGE, WEIGHT), {"padding": "same"}, ValueError, "'same'"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(
    name: str, arguments: tuple[Any, ...], named: dict[str, Any], kind: type[Exception], fact: str
) -> None:
    with pytest.raises(kind) as caught:
        calls()[name](*arguments, **named)
    assert f"library.{name}: " in str(caught.value)
    assert fact in str(caught.value)
