"""Files that may be tasks."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.hostile_texts import broken, fuzzed

from cuda_gym.errors import BadTask, UnknownTask
from cuda_gym.tasks.files import task_from_file, task_from_source
from cuda_gym.tasks.registry import list_tasks, load_suite, load_task

TEXTS = tuple(task.source for task in list_tasks("core"))
LITERALS: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**30)
    | st.floats()
    | st.binary(max_size=3)
    | st.text(max_size=6)
    | st.sampled_from(["hard", "memory", "cuda", "cpu", "gemm", "batch_size", "features", "\ud800", "a\nb"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.sampled_from(["cuda", "cpu", "batch_size"]) | st.integers() | st.none(), inner, max_size=2
        )
    ),
    max_leaves=6,
)  # fmt: skip


WORDS = st.text(max_size=9) | st.sampled_from(["hard", "memory", "\ud800", "a\nb", " "])
SAID = st.fixed_dictionaries(
    {},
    optional={
        "title": WORDS,
        "family": WORDS,
        "band": WORDS | LITERALS,
        "roofline": WORDS | LITERALS,
        "library": st.lists(st.sampled_from(["gemm", "conv", "x"]) | LITERALS, max_size=2),
        "allow_tf32": st.booleans() | LITERALS,
        "sizes": st.dictionaries(
            st.sampled_from(["cuda", "cpu", "x"]),
            st.dictionaries(st.sampled_from(["batch_size", "x", ""]), LITERALS, max_size=2)
            | LITERALS,
            max_size=2,
        ),
        "x": LITERALS,
    },
) | st.dictionaries(st.text(max_size=3) | st.integers(), LITERALS, max_size=2)


def read(source: str) -> None:
    try:
        task = task_from_source(source, id="a/b", origin="b.py", title="b")
    except BadTask as error:
        assert "b.py" in str(error)  # noqa: PT017 - either way is right
        str(error).encode()
    else:
        assert task.hash
        f"{task.id} {task.title} {task.family}".encode()


@fuzzed(120)
@given(broken(TEXTS, python=True))
def test_any_text_is_a_task_or_a_bad_task(source: str) -> None:
    read(source)


@fuzzed(120)
@given(st.sampled_from(TEXTS), SAID)
def test_whatever_a_file_says_of_itself_is_taken_or_a_bad_task(
    source: str, said: dict[Any, Any]
) -> None:
    read(f"TASK = {said!a}\n{source}")


@fuzzed(60)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_task_or_a_bad_task(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "task.py"
        path.write_bytes(data)
        try:
            assert task_from_file(path)
        except BadTask as error:
            assert str(path) in str(error)  # noqa: PT017 - either way is right


@fuzzed(60)
@given(st.text(max_size=20) | st.sampled_from(["core/", "kernelbench/level1/", "kernelbench/x/y", "/", ".py", "\ud800.py"]))  # fmt: skip
def test_any_name_is_a_task_or_an_error_that_tells_it(name: str) -> None:
    for ask in (load_task, load_suite):
        try:
            assert ask(name)
        except (UnknownTask, BadTask) as error:
            assert str(error)  # noqa: PT017 - either way is right
