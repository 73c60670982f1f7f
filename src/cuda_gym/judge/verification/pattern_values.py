"""What wrong values are, compared with what is expected at the same place or elsewhere."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import combinations

import torch
from torch import Tensor

from cuda_gym.judge.verification.pattern_places import plural_name
from cuda_gym.judge.verification.pattern_sample import Wrong, are_close, mostly, values_at

__all__ = ["describe_moves", "describe_values"]

_CONSTANTS = (
    (1.0 / math.log(2.0), "1 / ln 2: log2 in place of log"),
    (math.log(2.0), "ln 2: exp2 or log2 mixed up with exp or log"),
    (math.sqrt(2.0), "the root of 2"),
    (1.0 / math.sqrt(2.0), "1 over the root of 2"),
)
_TRANSFORMED = (
    ("the reciprocal of what they should be", torch.reciprocal),
    ("the square of what they should be: a root is missing", torch.square),
    ("the root of what they should be: a square is missing, or one root too many", torch.sqrt),
    ("the logarithm of what they should be", torch.log),
    ("exp() of what they should be: a logarithm is missing", torch.exp),
)


def describe_values(seen: Wrong, sizes: Collection[int]) -> str | None:
    """Zeros, infinities, one factor, one difference, one value, close ones.

    Args:
        seen: The wrong elements.
        sizes: Of the dimensions of inputs and parameters; a factor may be one of them.
    """
    got, want = seen.ours, seen.theirs
    if mostly(got == 0):
        is_negative = mostly(want < 0) and bool((seen.want > 0).any())
        return "they are 0" + (" where a negative number is expected" if is_negative else "")
    if mostly(got.isinf()):
        return "they are infinite: an overflow, or a division by 0"
    finite = got.isfinite() & want.isfinite() & (want != 0)
    if not mostly(finite) or int(finite.sum()) < 2:
        return None
    got, want = got[finite], want[finite]
    if mostly(want < 0) and bool((seen.want > 0).any()) and mostly(are_close(got, -want)):
        return "they have lost their sign"
    return _close(got, want) or _factor(got / want, sizes) or _other_function(got, want)


def describe_moves(seen: Wrong) -> str | None:
    """Right values in the wrong places: shifted, transposed, reversed."""
    if len(seen.positions) < 8:
        return None
    for said, elsewhere in _moved(seen):
        if mostly(are_close(seen.ours, elsewhere)) and not bool((elsewhere == elsewhere[0]).all()):
            return said
    return None


def _close(got: Tensor, want: Tensor) -> str | None:
    ratio = got / want
    if not mostly((ratio - 1.0).abs() < 0.01):
        return None
    for dtype, name in ((torch.float16, "float16"), (torch.bfloat16, "bfloat16")):
        rounded = want.to(dtype).to(torch.float64)
        if mostly(are_close(got, rounded, 1e-6)) and not mostly(are_close(rounded, want, 1e-6)):
            return f"they are the right values rounded to {name}"
    percent = 100.0 * float((ratio - 1.0).abs().median())
    return f"they are close, off by {percent:.2g} %: lower precision or an approximation"


def _factor(ratio: Tensor, sizes: Collection[int]) -> str | None:
    factor = float(ratio.median())
    if not factor or not mostly((ratio - factor).abs() <= 1e-4 * abs(factor)):
        return None
    if abs(factor + 1.0) < 1e-4:
        return "their sign is flipped"
    known = _known_factor(abs(factor), sizes)
    return f"they are {factor:.6g} times what they should be{known}"


def _known_factor(factor: float, sizes: Collection[int]) -> str:
    """What a factor is, where it is the size of a dimension or a constant."""
    for size in sorted(sizes):
        for power, word in ((1.0, f"{size}"), (0.5, f"the root of {size}")):
            if size < 3:
                continue
            for sign, what in ((1.0, "a division by it"), (-1.0, "a multiplication by it")):
                if abs(factor / size ** (power * sign) - 1.0) < 1e-4:
                    is_missing = (
                        f"{word} is a size of the inputs: {what} is missing, or one too many"
                    )
                    return f" ({is_missing if sign > 0 else '1 over ' + is_missing})"
        if size > 2 and any(
            abs(factor / f - 1.0) < 1e-5 for f in (size / (size - 1), 1 - 1 / size)
        ):
            return f" ({size} and {size - 1} are mixed up: what a variance is divided by?)"
    return next(
        (f" ({said})" for value, said in _CONSTANTS if abs(factor / value - 1.0) < 1e-4), ""
    )


def _other_function(got: Tensor, want: Tensor) -> str | None:
    difference = got - want
    shift = float(difference.median())
    if shift and mostly((difference - shift).abs() <= 1e-3 * abs(shift)):
        return f"they are off by {shift:+.6g}, all of them"
    if mostly(got == got[0]):
        return f"they are all {float(got[0]):.6g}"
    for said, function in _TRANSFORMED:
        if mostly(are_close(got, function(want), 1e-4)):
            return f"they are {said}"
    return None


def _moved(seen: Wrong) -> Iterator[tuple[str, Tensor]]:
    """What is told of a move, and the expected values as they would lie after it."""
    count, shape = seen.want.numel(), seen.want.shape

    def at(positions: Tensor) -> Tensor:
        inside = (positions >= 0) & (positions < count)
        values = values_at(seen.want, positions.clamp(0, count - 1))
        return torch.where(inside, values, math.nan)

    width = shape[-1] if shape else 1
    for step, word in ((1, "next"), (-1, "previous")):
        said = f"each has the value of the {word} element: an index is off by one"
        yield said, at(seen.positions + step)
        if len(shape) > 1 and width > 1:
            yield f"each row has the values of the {word} row", at(seen.positions + step * width)
    for one, two in reversed(list(combinations(range(len(shape)), 2))):
        if shape[one] > 1 and shape[two] > 1:
            names = f"{plural_name(one, len(shape))} and {plural_name(two, len(shape))}"
            yield (
                f"they hold the transposed output: {names} ({shape[one]} and {shape[two]}) are swapped",
                _transposed(seen, one, two),
            )
    yield "they hold the output in reverse order", at(count - 1 - seen.positions)
    if len(shape) > 1:
        column = seen.positions % width
        yield "each row is in reverse order", at(seen.positions - column + width - 1 - column)


def _transposed(seen: Wrong, one: int, two: int) -> Tensor:
    """What would lie at the places of the sample if two dimensions were swapped in memory."""
    swapped = seen.want.transpose(one, two)
    return values_at(swapped, seen.positions)
