"""What the wrong elements of an output have in common, in words that lead to the bug.

    what    NaN and its origin, zeros, one factor, values that moved   (nan_origin, pattern_values)
    given   an input or a parameter that was left out                  (pattern_inputs)
    rows    a factor or a difference of each row, column or channel    (pattern_rows)
    when    the values of an input where it goes wrong                 (pattern_inputs)
    where   rows, channels, tiles, every k-th element                  (pattern_places)

Only what holds for at least 95 % of the wrong elements is claimed. Nothing here decides whether an
output is right, and nothing here runs where it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from cuda_gym.judge.verification.nan_origin import describe_nan, describe_unwritten_integers
from cuda_gym.judge.verification.pattern_inputs import describe_condition, describe_left_out
from cuda_gym.judge.verification.pattern_places import describe_places
from cuda_gym.judge.verification.pattern_rows import describe_rows
from cuda_gym.judge.verification.pattern_sample import Wrong, elements_at, sample
from cuda_gym.judge.verification.pattern_values import describe_moves, describe_values

__all__ = ["find_pattern"]


def find_pattern(
    got: Tensor, want: Tensor, wrong: Tensor, *, given: Mapping[str, Tensor] | None = None
) -> str | None:
    """Name what the wrong elements have in common; None where nothing is found.

    Args:
        got: The submission's output, in its own shape and dtype.
        want: What was expected, in the same shape.
        wrong: Boolean, in the same shape: which elements are wrong.
        given: Inputs and parameters by name.
    """
    if not bool(wrong.any()):
        return None
    given = given or {}
    seen = Wrong.of(got, want, wrong)
    where = describe_places(wrong)
    when = None if where else describe_condition(seen, given)
    nan = _nan(got, want, wrong, given, where=where, when=when)
    what = describe_unwritten_integers(got, wrong) or _what(seen, wrong, given)
    if nan and what:
        what = f"of the others: {what}"
    parts = [nan, what, when, where]
    return "; ".join(part for part in parts if part) or None


def _nan(
    got: Tensor,
    want: Tensor,
    wrong: Tensor,
    given: Mapping[str, Tensor],
    *,
    where: str | None,
    when: str | None,
) -> str | None:
    """Of those that are NaN where a number is expected: where they are, and where they come from."""
    if not got.is_floating_point():
        return None
    nan = got.isnan() & wrong & ~want.isnan()
    count = int(nan.sum())
    if not count:
        return None
    if count == int(wrong.sum()):
        place = "all" if bool(wrong.all()) else where
        return f"they are NaN: {_origin(got, nan, place=place, condition=when)}"
    where = describe_places(nan)
    when = None if where else describe_condition(Wrong.of(got, want, nan), given)
    told = where or when
    origin = _origin(got, nan, place=where, condition=when)
    return f"{count:,} of them are NaN{f', {told}' if told else ''}: {origin}"


def _origin(got: Tensor, nan: Tensor, *, place: str | None, condition: str | None) -> str:
    is_gpu = got.device.type == "cuda"
    seen = elements_at(got, sample(nan))
    return describe_nan(seen, place=place, condition=condition, is_gpu=is_gpu)


def _what(seen: Wrong, wrong: Tensor, given: Mapping[str, Tensor]) -> str | None:
    """The first that fits, of those wrong elements that are numbers."""
    if len(seen.positions) < 2 or bool(seen.ours.isnan().all()):
        return None  # of one element, both numbers are told
    sizes = {size for tensor in (*given.values(), seen.want) for size in tensor.shape}
    return (
        describe_values(seen, sizes)
        or describe_left_out(seen, given)
        or describe_moves(seen)
        or describe_rows(seen.got, seen.want, wrong)
    )
