import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.shared_variables import with_margins
from cuda_gym.judge.toolchains.cuda_source import Source


def rewritten(text: str) -> str:
    return with_margins(Source("k.cu", text)).text


def test_a_variable_lies_between_margins_and_the_runtime_is_told() -> None:
    text = rewritten("__shared__ float tile[32][33];")
    assert "alignas(128) float tile[32][33]; char cuda_on_cpu_behind[128]" in text
    assert "static auto& tile = " in text
    assert 'cuda_on_cpu_note_shared((const void*)&tile, sizeof tile, 128, "tile")' in text


def test_each_variable_of_a_declaration_has_margins_of_its_own() -> None:
    text = rewritten("__shared__ int a[4], *b, c;")
    for declared in ("int a[4];", "int *b;", "int c;"):
        assert declared in text
    assert text.count("cuda_on_cpu_note_shared") == 3


def test_commas_inside_of_template_arguments_separate_nothing() -> None:
    text = rewritten("__shared__ cub::BlockReduce<float, 128>::TempStorage storage, other;")
    assert "BlockReduce<float, 128>::TempStorage storage;" in text
    assert "BlockReduce<float, 128>::TempStorage other;" in text


def test_an_alignment_stays_with_its_variable() -> None:
    assert "__align__(16) float4 v[8];" in rewritten("__shared__ __align__(16) float4 v[8];")


def test_dynamic_shared_memory_is_left_alone() -> None:
    text = "extern __shared__ float rows[];"
    assert rewritten(text) == text


@pytest.mark.parametrize("text", ["__shared__ float x = 3;", "__shared__ auto;", "__shared__ int"])
def test_what_is_not_understood_is_left_alone(text: str) -> None:
    assert rewritten(text) == text


def test_lines_stay_lines() -> None:
    text = "void k() {\n  __shared__ float a[3],\n    b[4];\n  int x;\n}\n"
    assert rewritten(text).splitlines()[3] == "  int x;"
