"""The operator rule: while a submission is judged, torch may allocate and view, and nothing else.

Every operator with a kernel for the device, or for the CPU, is given one that refuses, in torch's own
C++ dispatch table. So it makes no difference how an operator is reached: `torch.relu`, `x.relu()`, `x @ y`,
`F.linear`, `nn.ReLU()`, `torch.ops.aten.relu`, a TorchScript function traced before, with autograd,
without it or in inference mode.

The table is changed in the candidate after the model is built, because initialisation computes. Changing all of it
takes some 100 ms a device, 60 of them for pages that a forked process does not own yet (measured: 12,500 faults);
so it is rehearsed while nobody waits. The alternative, refusing kernels laid
in the zygote and armed by a flag, would leave torch working as long as a Python variable says so,
and every variable of a process is open to the code that runs in it. Here there is none: the handle
that could undo the change is referred to from C only, where no garbage collector lists it.

Covered: all dispatched operators, in-place and out variants, sparse, quantised, nested and MKL-DNN
tensors, casts, copies, `item()`.

Not covered: kernels that the submission took out of the table before (`torch.library.get_kernel`),
machine code that `torch.compile` made before, native code that calls into torch's libraries, and
values read past the table (`tolist()`, NumPy on memory shared with a tensor); and a submission that keeps
all this from being called. On `cpu` the code itself is closed for that (`closed_code`); elsewhere the static checks
name the imports that lead there.
Operators of other backends are not touched.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import torch

__all__ = ["kernels_to_refuse", "refuse_torch_operators", "rehearse_refusal"]


def rehearse_refusal(device: str) -> None:
    """Change what `refuse_torch_operators` will change, and undo it: what is touched is this process's own then."""
    with _without_collection():
        handles, _ = _replace_kernels(device, lambda _name, _advice: None)
        handles.clear()


def refuse_torch_operators(device: str, *, on_refusal: Callable[[str, str], None]) -> int:
    """Make every operator of torch refuse, but those that allocate, view, or ask for a shape.

    There is no way back: call it in a process that judges one submission and ends.

    Args:
        device: `cpu`, or `cuda`: then those for both, since a GPU's process can compute on the host, too.
        on_refusal: told the name of each operator that was called, as `torch.relu`, and what to do
            instead, before the caller gets a `RuntimeError`.

    Returns:
        How many kernels were replaced.
    """
    with _without_collection():
        handles, num_replaced = _replace_kernels(device, on_refusal)
    for handle in handles:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(handle))
    return num_replaced


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Thousands of new functions would set off a collection of all of torch: 80 ms."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALLOCATIONS = _names(
    """
    empty empty_like empty_permuted empty_strided new_empty new_empty_strided
    zeros zeros_like new_zeros zero_ ones ones_like new_ones full full_like new_full fill_
    resize_ resize_as_ set_ set_data lift_fresh
    """
)
_VIEWS = _names(
    """
    _reshape_alias _unsafe_view adjoint alias as_strided as_strided_ atleast_1d atleast_2d
    atleast_3d broadcast_tensors broadcast_to chunk conj detach detach_ diagonal dsplit expand
    expand_as flatten hsplit imag linalg_diagonal mH mT matrix_H meshgrid moveaxis movedim narrow
    numpy_T permute positive ravel real requires_grad_ reshape reshape_as select slice split
    split_with_sizes squeeze squeeze_ swapaxes swapaxes_ swapdims swapdims_ t t_ tensor_split
    transpose transpose_ unbind unflatten unfold unsafe_chunk unsafe_split
    unsafe_split_with_sizes unsqueeze unsqueeze_ view view_as view_as_complex view_as_real vsplit
    """
)
_QUESTIONS = _names(
    """
    _debug_has_internal_overlap _has_compatible_shallow_copy_type _has_same_storage_numel
    _is_zerotensor _version can_cast dim get_device is_complex is_conj is_contiguous is_distributed
    is_floating_point is_inference is_leaf is_neg is_pinned is_same_size is_set_to is_signed numel
    output_nr promote_types result_type retain_grad retains_grad size storage_offset stride
    sym_is_contiguous sym_numel sym_size sym_storage_offset sym_stride
    """
)
_PASS_THROUGH = _names(
    """
    contiguous to type_as resolve_conj resolve_neg
    dropout feature_dropout alpha_dropout feature_alpha_dropout
    """
)
"""Give back their argument where there is nothing to do; otherwise they call what is refused."""
_ALLOWED = _ALLOCATIONS | _VIEWS | _QUESTIONS | _PASS_THROUGH

_BACKENDS = {"cpu": ("CPU",), "cuda": ("CPU", "CUDA")}
_KINDS_OF_TENSORS = ("Sparse{}", "SparseCsr{}", "Mkldnn{}", "Quantized{}", "NestedTensor{}")

_SPOKEN = {"_to_copy": "torch.Tensor.to", "copy_": "torch.Tensor.copy_"}
_KERNEL_ADVICE, _COPY_ADVICE, _READ_ADVICE = (
    f"{advice}. Allowed are allocation (torch.empty, empty_like, zeros, ...) and views (view, permute, ...)."
    for advice in (
        "compute it in a kernel under kernels/ and call that through cuda_extension",
        "a copy, a cast, and .contiguous() or reshape of a strided tensor are work of a kernel: "
        "pass the strides to your launcher, or let it write the new layout or type",
        "a value stays on the device: pass the tensor to your launcher and read it there",
    )
)
_ADVICE = {
    **dict.fromkeys(("clone", "copy_", "copy", "_to_copy", "_reshape_copy"), _COPY_ADVICE),
    **dict.fromkeys(
        ("_local_scalar_dense", "item", "is_nonzero", "equal", "allclose"), _READ_ADVICE
    ),
}


def _replace_kernels(device: str, on_refusal: Callable[[str, str], None]) -> tuple[list[Any], int]:
    """Give each kernel its refusing one; the change lasts as long as the handles."""
    num_replaced = 0
    handles: dict[tuple[str, str], Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that a kernel is being replaced
        for operator, backend in _refused_kernels(device):
            namespace, _, name = operator.partition("::")
            handle = handles.get((namespace, backend))
            if handle is None:
                handle = torch._C._dispatch_library("IMPL", namespace, backend)
                handles[namespace, backend] = handle
            handle.impl(name, backend, _refuser(namespace, name, on_refusal))
            num_replaced += 1
    return list(handles.values()), num_replaced


def _refused_kernels(device: str) -> Iterator[tuple[str, str]]:
    """Each operator and backend that is to refuse."""
    for kind in _KINDS_OF_TENSORS:
        for backend in map(kind.format, _BACKENDS[device]):
            if backend != "MkldnnCUDA":  # there is none
                for operator in torch._C._dispatch_get_registrations_for_dispatch_key(backend):
                    yield operator, backend
    known, kernels = kernels_to_refuse(device)
    yield from kernels
    since = [name for name in torch._C._dispatch_get_all_op_names() if name not in known]
    yield from _with_kernels(since, _BACKENDS[device])


@functools.cache
def kernels_to_refuse(device: str) -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
    """All operators there are, and those that are to refuse; found once, before a process is forked."""
    names = torch._C._dispatch_get_all_op_names()
    return frozenset(names), tuple(_with_kernels(names, _BACKENDS[device]))


def _with_kernels(names: Iterable[str], backends: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    has_kernel = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    for operator in names:
        namespace, _, name = operator.partition("::")
        is_allowed = (
            name.partition(".")[0] in _ALLOWED if namespace == "aten" else namespace == "profiler"
        )
        for backend in () if is_allowed else backends:
            if has_kernel(operator, backend):
                yield operator, backend


def _refuser(
    namespace: str, name: str, on_refusal: Callable[[str, str], None]
) -> Callable[..., NoReturn]:
    """A kernel that refuses. There are thousands: what it says, it puts together when it is called."""
    base = name.partition(".")[0]
    spoken = _SPOKEN.get(base) or f"torch.{base}"
    if namespace != "aten":
        spoken = f"torch.ops.{namespace}.{base}"
    advice = _ADVICE.get(base, _KERNEL_ADVICE)

    def refuse(*args: object, **kwargs: object) -> NoReturn:  # noqa: ARG001
        on_refusal(spoken, advice)
        raise RuntimeError(f"{spoken} is not allowed in forward or prepare: {advice}")

    return refuse
