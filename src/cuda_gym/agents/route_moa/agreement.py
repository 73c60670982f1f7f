r"""Whether answers say the same: a sign of being right that costs nothing.

Covered: a result behind `Answer:` or in `\boxed{}`, letters of a choice, numbers however they are written,
Python literals, and text up to case and white space. Code in a fence must be equal as it stands.
Not covered: meaning. Two essays or two kernels that do the same differ; a caller who can compare them
passes a `Same` of its own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

__all__ = ["Same", "group", "normalise", "plurality", "same_answer", "shares", "unanimous"]

Same = Callable[[str, str], bool]
"""Whether two answers say the same; should be symmetric."""

_FENCE = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
_MARKED = re.compile(
    r"^\W{0,4}(?:final |the )?answer\W{0,4}(?: is\b|:)(?: \W{0,3}:)?(.+)$|\bthe (?:final |correct )?answer is:?(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_CHOICE = re.compile(r"\(?([A-Za-z])(?:[.):](?: .*)?)?")
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)"
_NUMBER = re.compile(rf"[+-]?\$?(?:{_DIGITS}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{{1,3}})?")
_RATIO = re.compile(r"(-?)(?:\\[dt]?frac\{(-?\d+)\}\{(\d+)\}|(\d+) ?/ ?(\d+))")
_WRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}")
_WORDS = re.compile(r"[\w\s.,:!?%+-]*")
_LONGEST_LITERAL = 2000
"""Characters; beyond it an answer is no short result."""


def same_answer(first: str, second: str) -> bool:
    r"""Whether two answers are equal once normalised.

    >>> same_answer("So it is \\boxed{1,000}", "Answer: 1000.0")
    True
    """
    return normalise(first) == normalise(second)


@lru_cache(maxsize=1024)
def normalise(answer: str) -> str:
    r"""The result that an answer gives, in one way of writing it.

    >>> [normalise(text) for text in ("(B)", "b. Paris", "The answer is B.", "0.50", "\\frac{1}{2}")]
    ['b', 'b', 'b', '1/2', '1/2']
    """
    if blocks := _FENCE.findall(answer):
        return "\n".join(block.strip("\n") for block in blocks)
    result = _result(answer).strip()
    result = _WRAPPED.sub(r"\1", result).strip("$*` \t\n")
    if result.endswith(".") and not result.endswith(".."):
        result = result[:-1].rstrip("$*` ")
    if choice := _CHOICE.fullmatch(result):
        return choice[1].lower()
    return _number(result) or _literal(result) or _plain(result)


def group(answers: Sequence[str], same: Same = same_answer) -> tuple[tuple[int, ...], ...]:
    """Indices of the answers that say the same as the first of their group, in order.

    >>> group(["A", "B", "(a)"])
    ((0, 2), (1,))
    """
    groups: list[list[int]] = []
    for index, answer in enumerate(answers):
        for members in groups:
            if same(answers[members[0]], answer):
                members.append(index)
                break
        else:
            groups.append([index])
    return tuple(map(tuple, groups))


def shares(answers: Sequence[str], same: Same = same_answer) -> tuple[float | None, ...]:
    """Of each answer, the share of the others that say the same; None where there are no others.

    >>> shares(["A", "B", "A"])
    (0.5, 0.0, 0.5)
    >>> shares(["A"])
    (None,)
    """
    if len(answers) < 2:
        return (None,) * len(answers)
    found: list[float | None] = [None] * len(answers)
    for members in group(answers, same):
        for index in members:
            found[index] = (len(members) - 1) / (len(answers) - 1)
    return tuple(found)


def plurality(
    answers: Sequence[str], *, weights: Sequence[float] | None = None, same: Same = same_answer
) -> int:
    """The index of the answer that most give, heaviest or else first of its group.

    Args:
        answers: At least one.
        weights: What each counts; None is one each. Of two groups of equal weight the one that
            has the earlier answer wins, so answers come best model first.
        same: Whether two say the same.

    >>> plurality(["A", "B", "B"])
    1
    >>> plurality(["A", "B", "B"], weights=[0.9, 0.3, 0.4])
    0
    """
    if not answers:
        raise ValueError("There is no answer, so none is given by most. Pass at least one.")
    counts = [1.0] * len(answers) if weights is None else weights
    groups = group(answers, same)
    most = max(groups, key=lambda members: sum(counts[index] for index in members))
    return max(most, key=lambda index: counts[index])


def unanimous(answers: Sequence[str], same: Same = same_answer) -> bool:
    """Whether there are at least two answers, and all say the same.

    >>> unanimous(["A", "(a)", "A."]), unanimous(["A"])
    (True, False)
    """
    return len(answers) > 1 and len(group(answers, same)) == 1


def _result(answer: str) -> str:
    """What stands in the last box, or else behind the last `answer is`, or else everything."""
    if (boxed := _boxed(answer)) is not None:
        return boxed
    marked = list(_MARKED.finditer(answer))
    return (marked[-1][1] or marked[-1][2]) if marked else answer


def _boxed(answer: str) -> str | None:
    start = answer.rfind("\\boxed{")
    if start < 0:
        return None
    start += len("\\boxed{")
    depth = 1
    for end in range(start, len(answer)):
        depth += {"{": 1, "}": -1}.get(answer[end], 0)
        if not depth:
            return answer[start:end]
    return None


def _number(result: str) -> str | None:
    """A number in lowest terms; exact, so that no rounding makes two of them one."""
    if ratio := _RATIO.fullmatch(result):
        above, below = int(ratio[2] or ratio[4]), int(ratio[3] or ratio[5])
        sign = -1 if ratio[1] else 1
        return str(Fraction(sign * above, below)) if below else None
    if len(result) < 100 and _NUMBER.fullmatch(result):
        return str(Fraction(result.replace(",", "").replace("$", "")))
    return None


def _literal(result: str) -> str | None:
    """A list, tuple, dictionary or string of Python, as Python writes it.

    Backslashes, and letters right behind digits, are left alone: the parser warns of some of them.
    """
    if not result.startswith(("[", "(", "{", "'", '"')) or len(result) > _LONGEST_LITERAL:
        return None
    if "\\" in result or re.search(r"\d[A-Za-z]", result):
        return None
    try:
        return repr(ast.literal_eval(result))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _plain(result: str) -> str:
    """White space made single; case forgotten in words, kept where there are signs of code."""
    single = " ".join(result.split())
    return single.casefold() if _WORDS.fullmatch(single) else single
