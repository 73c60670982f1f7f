"""Lines of a submission as they stand beside what is said of them."""

from __future__ import annotations

from cuda_gym.core.task import Submission

__all__ = ["excerpt", "source_lines"]

_MAX_LINE_CHARS = 120
_TAB = 4


def source_lines(submission: Submission, file: str | None) -> list[str]:
    """The lines of one file; none where there is no such file."""
    source = None if file is None else submission.text(file)
    return [] if source is None else source.split("\n")


def excerpt(
    lines: list[str], line: int | None, column: int | None = None, *, around: int = 0
) -> str:
    r"""A line with its neighbours and a caret; empty where there is no such line.

    Args:
        lines: Of the file.
        line: From 1.
        column: From 1; None draws no caret.
        around: How many lines before and after it are shown; blank ones are left out.

    >>> print(excerpt(["int a;", "\tint b = c;", "int d;"], 2, 10, around=1))
        1 | int a;
        2 |     int b = c;
          |             ^
        3 | int d;
    """
    if line is None or not 1 <= line <= len(lines):
        return ""
    shown = []
    for number in range(max(1, line - around), min(len(lines), line + around) + 1):
        text = lines[number - 1].rstrip()
        if number != line:
            if text.strip():
                shown.append(_numbered(number, _windowed(text, 0)[0]))
            continue
        if column is None or not 1 <= column <= len(text) + 1:
            shown.append(_numbered(number, _windowed(text, 0)[0]))
            continue
        code, caret = _windowed(text, len(text[: column - 1].expandtabs(_TAB)))
        shown += [_numbered(number, code), f"{'':>5} | {'':>{caret}}^"]
    return "\n".join(shown)


def _numbered(number: int, code: str) -> str:
    return f"{number:>5} | {code}"


def _windowed(text: str, caret: int) -> tuple[str, int]:
    """At most so many characters of a line, the caret among them, and where it then stands."""
    code = text.expandtabs(_TAB)
    start = 0 if caret < _MAX_LINE_CHARS - 10 else caret - _MAX_LINE_CHARS // 2
    piece = code[start : start + _MAX_LINE_CHARS]
    before = "... " if start else ""
    after = " ..." if start + _MAX_LINE_CHARS < len(code) else ""
    return f"{before}{piece}{after}", caret - start + len(before)
