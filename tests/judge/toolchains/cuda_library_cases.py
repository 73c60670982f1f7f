"""Calls of `cuda_extension.library` while torch refuses, compared with torch in float64 on the host.

    python cuda_library_cases.py cuda [without]

Prints a line of JSON: by the name of each case how far it is off, or its error. torch's operators refuse
for good once they do, so this is a process of its own. `without` leaves out cuDNN and MKL-DNN.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch

from cuda_gym.judge.sandbox.torch_operators import refuse_torch_operators
from cuda_gym.judge.toolchains.cuda_library import library_calls
from cuda_gym.judge.toolchains.cuda_library_kernels import TorchKernels

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
TOLERANCE = {"float32": 3e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 2e-2}
Case = tuple[str, str, tuple[torch.Tensor, ...], dict[str, Any], torch.Tensor]


@cache
def results(device: str, *words: str) -> dict[str, Any]:
    """What a process of its own prints."""
    command = [sys.executable, __file__, device, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def require_right(results: dict[str, Any], dtype: str) -> None:
    """Fail with the cases of one number format that are wrong."""
    cases = {name: case for name, case in results["cases"].items() if name.endswith(f".{dtype}")}
    assert len(cases) > 50
    wrong = {
        name: case
        for name, case in cases.items()
        if not case.get("as_asked") or not case["off"] <= TOLERANCE[dtype]
    }
    assert wrong == {}


def product(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | float = 0.0) -> torch.Tensor:
    return a @ b + bias


def convolution(*tensors: torch.Tensor, **options: Any) -> torch.Tensor:
    by_rank: dict[int, Any] = {3: torch.conv1d, 4: torch.conv2d, 5: torch.conv3d}
    result: torch.Tensor = by_rank[tensors[0].dim()](*tensors, **options)
    return result


class Cases:
    """Makes them for one number format on one device."""

    def __init__(self, dtype: torch.dtype, device: str) -> None:
        self._dtype, self._device = dtype, device

    def rand(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape).to(self._device, self._dtype)

    def empty(self, *shape: int) -> torch.Tensor:
        return torch.empty(*shape, device=self._device, dtype=self._dtype)

    def case(
        self,
        name: str,
        function: Callable[..., torch.Tensor],
        *tensors: torch.Tensor,
        out: torch.Tensor | None = None,
        **named: Any,
    ) -> Case:
        call = name.split()[0]
        exact = [tensor.cpu().double() for tensor in tensors]
        bias = named.get("bias")
        if bias is not None:
            expected = function(*exact, bias.cpu().double())
        else:
            options = {} if call != "conv" else named
            expected = function(*exact, **options)
        given = named if out is None else {**named, "out": out}
        return f"{name} {self._dtype}", call, tensors, given, expected

    def products(self) -> Iterator[Case]:
        rand = self.rand
        a, b, bias = rand(33, 20), rand(20, 17), rand(17)
        strided, wide = rand(33, 40)[:, ::2], rand(33, 34)[:, ::2]
        yield self.case("gemm", product, a, b)
        yield self.case("gemm out", product, a, b, out=self.empty(33, 17))
        yield self.case("gemm bias", product, a, b, bias=bias)
        yield self.case("gemm bias strided", product, a, b, bias=rand(34)[::2])
        yield self.case("gemm bias full", product, a, b, bias=rand(33, 17))
        yield self.case("gemm bias rows", product, a, b, bias=rand(33, 1))
        yield self.case("gemm bias one", product, a, b, bias=rand(1, 17))
        yield self.case("gemm bias wide", product, a, b, bias=wide, out=self.empty(33, 17))
        yield self.case(
            "gemm transposed",
            lambda a, b: a.t() @ b.t(),
            rand(20, 33),
            rand(17, 20),
            transpose_a=True,
            transpose_b=True,
        )
        yield self.case("gemm expanded", product, a[:1].expand(9, 20), b)
        yield self.case("gemm sliced", product, a[:, 3:13], b[:10])
        yield self.case("gemm strided", product, strided, b)
        yield self.case("gemm column", product, a, b[:, 3:4], bias=rand(1))
        yield self.case("gemm row", product, a[3:4], b, bias=bias)
        yield self.case("gemm free stride", product, a[:1].as_strided((1, 20), (1, 1)), b)
        yield self.case("gemm nothing", product, a[:, :0], b[:0])
        yield self.case("gemm nothing but bias", product, a[:, :0], b[:0], bias=bias)
        p, q = rand(3, 5, 6), rand(3, 7, 6).transpose(1, 2)
        yield self.case("bmm", product, p, q)
        yield self.case("bmm strided", product, p[..., ::2], q[:, ::2])
        yield self.case("bmm out", product, p, q, out=self.empty(3, 5, 7))
        yield self.case("bmm batches", product, p[:1].expand(3, 5, 6), q)
        yield self.case("bmm vectors", product, p[:, :1], q[..., :1])
        free = torch.empty_strided((3, 1, 1), (1, 5, 7), device=self._device, dtype=self._dtype)
        yield self.case("bmm free stride", product, p[:, :1], q[..., :1], out=free)

    def convolutions(self) -> Iterator[Case]:
        rand = self.rand
        for dims, shape, kernel in (
            (1, (20,), (3,)),
            (2, (9, 11), (3, 2)),
            (3, (5, 6, 7), (2, 3, 2)),
        ):
            x, weight, bias = rand(2, 4, *shape), rand(6, 4, *kernel), rand(6)
            halves = rand(6, 2, *kernel)
            strided = rand(2, 4, *shape[:-1], 2 * shape[-1])[..., ::2]
            name, f = f"conv {dims}d", convolution
            out = torch.empty_like(f(x.cpu(), weight.cpu()), device=self._device)
            yield self.case(name, f, x, weight)
            yield self.case(f"{name} bias", f, x, weight, bias)
            yield self.case(f"{name} bias strided", f, x, weight, rand(12)[::2])
            yield self.case(f"{name} options", f, x, weight, bias, stride=2, padding=1, dilation=2)
            yield self.case(f"{name} groups", f, x, halves, bias, groups=2)
            yield self.case(f"{name} depthwise", f, x, rand(4, 1, *kernel), groups=4)
            yield self.case(f"{name} strided", f, strided, weight, bias)
            yield self.case(f"{name} out", f, x, weight, bias, out=out)
            yield self.case(f"{name} points", f, x, rand(6, 4, *[1] * dims))
        pixels = rand(2, 4, 9, 11).to(memory_format=torch.channels_last)
        filters = rand(6, 4, 3, 3).to(memory_format=torch.channels_last)
        yield self.case("conv 2d by pixels", convolution, pixels, filters, rand(6))
        one = rand(2, 1, 9, 11).as_strided((2, 1, 9, 11), (99, 1, 11, 1))
        yield self.case("conv 2d free stride", convolution, one, rand(6, 1, 3, 3))


def main(device: str, without: bool) -> dict[str, Any]:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if without:
        vars(torch.backends.cudnn)["is_available"] = lambda: False
        vars(torch.backends.mkldnn)["is_available"] = lambda: False
    told: list[str] = []
    calls = library_calls(("gemm", "bmm", "conv"), told.append, torch.device(device))
    copy = TorchKernels(torch.device(device), allow_tf32=False).copy
    cases = [
        case
        for dtype in DTYPES
        for maker in [Cases(dtype, device)]
        for case in (*maker.products(), *maker.convolutions())
    ]
    expected = [case[-1].flatten().tolist() for case in cases]
    refuse_torch_operators(device, on_refusal=lambda name, advice: None)
    results: dict[str, Any] = {}
    for (name, call, tensors, named, wanted), numbers in zip(cases, expected, strict=True):
        try:
            y = calls[call](*tensors, **named)
        except (RuntimeError, ValueError, TypeError) as error:
            results[name] = {"error": repr(error)}
            continue
        # Read past the table, too.
        got = copy(torch.empty(y.shape, dtype=y.dtype), y).flatten().tolist()
        off = [abs(g - e) / (1 + abs(e)) for g, e in zip(got, numbers, strict=True)]
        results[name] = {
            "off": max(off),
            "as_asked": y is named.get("out", y) and y.shape == wanted.shape and y.is_contiguous(),
        }
    refused = ""
    try:
        torch.mm(cases[0][2][0], cases[0][2][1])
    except RuntimeError as error:
        refused = str(error)
    return {"cases": results, "told": told, "refused": refused}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], len(sys.argv) > 2)))
