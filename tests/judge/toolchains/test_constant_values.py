from __future__ import annotations

import ast
from typing import Any

import pytest

from cuda_gym.judge.toolchains.constant_values import MAX_CHARACTERS, Unknown, value_of

NAMES: dict[str, Any] = {"BODY": "a N b", "N": 4, "FLAGS": ["-O3"], "ITEMS": {"x": "y"}}


def worth(text: str) -> Any:
    return value_of(ast.parse(text, mode="eval").body, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "'a' 'b' + BODY",
        "BODY.replace('N', str(N)).strip()",
        "f'{BODY}{N:>3}{BODY!r}'",
        "'%s %d' % (BODY, N)",
        "'float* x; // 1024 threads, 100%% of %5.2f %s' % (N, BODY)",
        "'%(a)3s' % {'a': BODY}",
        "dict(a=BODY, b=N)",
        "'{} {n}'.format(BODY, n=N)",
        "'\\n'.join([BODY, 'c'])",
        "FLAGS + [f'-DN={N * 2}', *FLAGS]",
        "{'a': BODY, **ITEMS}['x']",
        "BODY.splitlines()[0]",
        "'ab' * N",
    ],
)
def test_what_can_be_told_without_running_is_worth_what_python_says(text: str) -> None:
    assert worth(text) == eval(text, {}, dict(NAMES))


def test_indentation_is_taken_off_a_text() -> None:
    assert worth("textwrap.dedent('  a\\n  b')") == "a\nb"


@pytest.mark.parametrize(
    "text",
    ["UNKNOWN", "open('x').read()", "source()", "BODY.encode()", "'{0.__class__}'.format(BODY)",
     "dict(**ITEMS)", "[x for x in FLAGS]", "BODY if N else ''", "BODY['x']", "'a' + 1", "'%d' % BODY"],
)  # fmt: skip
def test_what_has_to_be_run_is_unknown(text: str) -> None:
    with pytest.raises(Unknown):
        worth(text)


@pytest.mark.parametrize(
    "text",
    [
        f"'a' * {MAX_CHARACTERS + 1}",
        "('a' * 200000).replace('', 'b' * 200000)",
        "('a' * 200000).join(['b'] * 200000)",
        "f'{N:>999999999}'",
        "'{:>999999999}'.format(N)",
        "'%999999999d' % N",
        "'%*d' % (999999999, N)",
        "'%-0.*f' % (999999999, N)",
        "'%((n))999999999d' % {'(n)': N}",
        "2 * 9223372036854775807 * 9223372036854775807 * 9223372036854775807",
    ],
)
def test_what_would_become_too_large_is_never_made(text: str) -> None:
    with pytest.raises(Unknown, match="characters"):
        worth(text)


def test_an_expression_without_end_is_unknown() -> None:
    with pytest.raises(Unknown, match="too deeply"):
        worth("+".join(["'a'"] * 500))
