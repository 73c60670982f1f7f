from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core.task import Band
from cuda_gym.errors import BadTask, UnknownTask
from cuda_gym.tasks.files import MAX_BYTES, task_from_file, task_from_source

KERNELBENCH = '''\
import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Simple model that performs a ReLU activation.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)

batch_size = 16
dim = 16384

def get_inputs():
    x = torch.randn(batch_size, dim)
    return [x]

def get_init_inputs():
    return []  # No special initialization inputs needed
'''


def _file(folder: Path, text: str, name: str = "19_ReLU.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _with(literal: str) -> str:
    return f"{KERNELBENCH}\nTASK = {literal}\n"


def test_a_file_of_kernelbench_is_a_task_as_it_is(tmp_path: Path) -> None:
    path = _file(tmp_path, KERNELBENCH)
    task = task_from_file(path)
    assert task.id == str(path)
    assert task.source == KERNELBENCH
    assert task.title == "ReLU"
    assert (task.family, task.band, task.library, task.allow_tf32) == ("other", None, (), False)


def test_nothing_in_the_file_is_executed(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    task_from_file(_file(tmp_path, f"open({str(marker)!r}, 'w')\n{KERNELBENCH}"))
    assert not marker.exists()


def test_the_first_line_of_a_docstring_is_the_title(tmp_path: Path) -> None:
    text = f'"""Rectified linear unit.\n\nMore of it.\n"""\n{KERNELBENCH}'
    assert task_from_file(_file(tmp_path, text)).title == "Rectified linear unit"


def test_the_literal_says_more(tmp_path: Path) -> None:
    literal = (
        '{"title": "Clamp", "family": "elementwise", "band": "easy", '
        '"library": ["gemm", "conv"], "allow_tf32": True}'
    )
    task = task_from_file(_file(tmp_path, f'"""Ignored."""\n{_with(literal)}'), id="mine/relu")
    assert task.id == "mine/relu"
    assert (task.title, task.family, task.band) == ("Clamp", "elementwise", Band.EASY)
    assert (task.library, task.allow_tf32) == (("gemm", "conv"), True)


def test_an_annotated_literal_is_read_too(tmp_path: Path) -> None:
    text = f'{KERNELBENCH}\nTASK: dict[str, str] = {{"family": "elementwise"}}\n'
    assert task_from_file(_file(tmp_path, text)).family == "elementwise"


@pytest.mark.parametrize(
    ("literal", "fact"),
    [
        ('{"famly": "softmax"}', r"line 24: TASK has no entry 'famly'. Did you mean 'family'\?"),
        ('{"band": "brutal"}', r"line 24: TASK\['band'\] is 'brutal'; .* 'easy', 'medium', 'hard'"),
        ('{"library": ["fft"]}', r"TASK\['library'\] is \['fft'\]; .* 'gemm', 'bmm', 'conv'"),
        ('{"library": "gemm"}', r"TASK\['library'\] is 'gemm'"),
        ('{"library": [[]]}', r"TASK\['library'\] is \[\[\]\]"),
        ('{"allow_tf32": 1}', r"TASK\['allow_tf32'\] is 1; it must be True or False"),
        ('{"title": ""}', r"TASK\['title'\] is ''"),
        ('{"band": []}', r"TASK\['band'\] is \[\]"),
        ("{7: 1}", r"TASK has no entry 7"),
        ('["softmax"]', r"line 24: TASK is no dict of literals"),
        ("dict(band=get_inputs())", r"line 24: TASK is no dict of literals"),
    ],
)
def test_a_wrong_literal_is_named_with_its_line(tmp_path: Path, literal: str, fact: str) -> None:
    with pytest.raises(BadTask, match=fact):
        task_from_file(_file(tmp_path, _with(literal)))


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        ("class Model(", "class Modell(", r"has no `class Model` .*Did you mean 'Model'\?|Modell"),
        ("def get_inputs()", "def get_input()", r"has no function `get_inputs\(\)`.*'get_input'"),
        ("def get_init_inputs()", "async def get_init_inputs()", r"line 21: `get_init_inputs` is"),
        ("def get_inputs()", "def get_inputs(size, seed=0)", r"line 17: .*has 1 without a default"),
        ("def get_inputs()", "def get_inputs(*, size)", r"line 17: .*has 1 without a default"),
        ("def forward(", "def forward((", r"line 11: .* A task has `class Model"),
        ("batch_size = 16", "batch_size = '\0'", r"A task has `class Model"),
        ("batch_size = 16", "batch_size = " + "(" * 5000, r"A task has `class Model"),
        ("batch_size = 16", "batch_size = " + "-" * 90_000 + "1", r"A task has `class Model"),
    ],
)
def test_a_file_in_another_format_is_refused(
    tmp_path: Path, before: str, after: str, fact: str
) -> None:
    with pytest.raises(BadTask, match=fact):
        task_from_file(_file(tmp_path, KERNELBENCH.replace(before, after)))


def test_a_missing_file_is_named_with_the_folder_it_was_looked_for_in() -> None:
    with pytest.raises(UnknownTask, match=r"no file 'nowhere\.py' \(looked from '/"):
        task_from_file("nowhere.py")


def test_a_link_to_nowhere_is_named_with_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / "gone.py")
    with pytest.raises(UnknownTask, match=r"symbolic link to '.*gone\.py', which does not exist"):
        task_from_file(link)


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(link)
    with pytest.raises(BadTask, match="cannot be read"):
        task_from_file(link)


def test_a_folder_is_no_task(tmp_path: Path) -> None:
    with pytest.raises(BadTask, match=r"is a folder\. Give the path of one Python file"):
        task_from_file(tmp_path)


def test_a_pipe_is_no_task_and_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    with pytest.raises(BadTask, match="is no ordinary file"):
        task_from_file(pipe)


def test_a_file_of_five_megabytes_is_refused_with_its_size(tmp_path: Path) -> None:
    path = _file(tmp_path, KERNELBENCH + "#" * 5_000_000)
    with pytest.raises(BadTask, match=rf"has 5,000,\d+ bytes; a task has at most {MAX_BYTES:,}"):
        task_from_file(path)


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes(b"# caf\xe9\n" + KERNELBENCH.encode())
    with pytest.raises(BadTask, match=r"byte 5 is 0xe9\. Save the file as UTF-8"):
        task_from_file(path)


@pytest.mark.parametrize("name", ["a" * 5000 + ".py", "a\0b.py"])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    with pytest.raises(BadTask, match="cannot be read"):
        task_from_file(name)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_a_task_or_a_bad_task(text: str) -> None:
    with pytest.raises(BadTask, match="text"):
        task_from_source(text, id="text", origin="text", title="text")


def test_half_a_surrogate_pair_is_no_text_of_a_task() -> None:
    docstring = '"""Half of \\ud800"""\n' + KERNELBENCH
    assert task_from_source(docstring, id="a/b", origin="b", title="b").title == "Half of ?"
    for entry in ("title", "family"):
        said = f"TASK = {{{entry!r}: '\\ud800'}}\n" + KERNELBENCH
        with pytest.raises(BadTask, match=f"TASK\\['{entry}'\\] is"):
            task_from_source(said, id="a/b", origin="b", title="b")


def test_what_a_file_says_about_itself_is_no_part_of_the_source() -> None:
    told = KERNELBENCH.replace(
        "class Model", 'TASK = {\n    "band": "easy",  # a guess\n}\n\n\nclass Model'
    )
    task = task_from_source(told, id="a/b", origin="b", title="b")
    assert (task.band, task.source) == (Band.EASY, KERNELBENCH.replace("\n\nclass", "\n\n\nclass"))


def test_a_literal_that_shares_its_line_stays() -> None:
    told = KERNELBENCH.replace("dim = 16384", 'dim = 16384; TASK = {"band": "easy"}')
    task = task_from_source(told, id="a/b", origin="b", title="b")
    assert (task.band, task.source) == (Band.EASY, told)
