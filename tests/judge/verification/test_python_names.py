from __future__ import annotations

import ast

import pytest

from cuda_gym.judge.verification.python_names import imported_names, used_names


def uses(source: str) -> list[tuple[str, int]]:
    tree = ast.parse(source)
    return [(use.name, use.line) for use in used_names(tree, imported_names(tree))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a.b.c\na.b.c.d()", [("a.b.c.d", 2)]),
        ("import a.b as x\n\nx.y", [("a.b.y", 3)]),
        ("from a.b import c as x\nx.y.z(x)", [("a.b.c.y.z", 2), ("a.b.c", 2)]),
        ("from a import *", [("a", 1)]),
        ("def f():\n  import a\n  a.b[0].c", [("a.b", 3)]),
        ("__import__('a').b", [("a.b", 1)]),
        ("import a\ngetattr(a, 'b').c", [("a.b.c", 2)]),
        ("import sys\nsys.modules['a'].b", [("a.b", 2), ("sys.modules", 2)]),
        ("from sys import modules\nmodules.get('a')", [("a", 2), ("sys.modules.get", 2)]),
        ("import a\na.b.sys.modules['c'].d", [("c.d", 2), ("a.b.sys.modules", 2)]),
        ("import a\na.modules['b'].c\ngetattr(x, 'b')", [("a.modules", 2)]),
        ("import a", []),
        ("from . import a\na.b", []),
        ("import a\na = 1\na.b", []),
        ("import a\ndef f(a): return a.b", []),
        ("'import a; a.b'  # a.b", []),
        ("import a\ndef f(x: a.b, *y: 'a.c') -> dict[str, a.b] | None: ...", []),
        ("import a\nx: a.b = a.c", [("a.c", 2)]),
        ("import a\ndef f(x: a.b(1)) -> a.c[x]: ...", [("a.c", 2), ("a.b", 2)]),
    ],
)
def test_a_name_is_resolved_through_imports(source: str, expected: list[tuple[str, int]]) -> None:
    assert uses(source) == expected


def test_a_long_chain_is_followed() -> None:
    assert uses("import a\na" + ".b" * 500) == [("a" + ".b" * 500, 2)]
