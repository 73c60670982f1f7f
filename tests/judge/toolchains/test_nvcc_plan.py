from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.nvcc_plan import Plan, read_plan

UNIT = """\
#$ gcc -E -x c++ -include "cuda_runtime.h" "k/a.cu" -o "/tmp/1_a.cpp4.ii"
#$ cudafe++ --gen_c_file_name "/tmp/1_a.cpp" --gen_module_id_file --module_id_file_name "/tmp/1_a.id" "/tmp/1_a.cpp4.ii"
#$ gcc -D__CUDA_ARCH__=900 -E -x c++ "k/a.cu" -o "/tmp/1_a.cpp1.ii"
#$ "$CICC_PATH/cicc" --module_id_file_name "/tmp/1_a.id" "/tmp/1_a.cpp1.ii" -o "/tmp/1_a.ptx"
#$ ptxas -arch=sm_90 "/tmp/1_a.ptx" -o "/tmp/1_a.cubin"
#$ fatbinary --image3=file=/tmp/1_a.cubin --embedded-fatbin="/tmp/1_a.fatbin.c"
#$ rm /tmp/1_a.fatbin
#$ gcc -c -x c++ "/tmp/1_a.cpp" -o "/tmp/1_a.o"
"""
HEAD = "#$ _SPACE_= \n#$ TOP=/opt/cuda\n#$ CICC_PATH=/opt/cuda/nvvm/bin\n#$ PATH=/opt/it's:/bin\n"
LINK = '#$ g++ -shared "/tmp/1_a.o" -o "k.so" \n'


def _plan(text: str) -> Plan:
    plan = read_plan(text, "1a2b")
    assert plan is not None
    return plan


def test_the_two_chains_of_a_file_are_told_apart() -> None:
    [unit] = _plan(HEAD + UNIT + LINK).units
    assert [command.split()[0] for command in unit.host] == ["gcc", "cudafe++"]
    assert [command.split()[0] for command in unit.device] == [
        "gcc", '"$CICC_PATH/cicc"', "ptxas", "fatbinary",
    ]  # fmt: skip
    assert unit.compile.startswith("gcc -c")


def test_both_chains_are_given_one_name_instead_of_waiting_for_it() -> None:
    plan = _plan(HEAD + UNIT + UNIT.replace("1_a", "2_b") + LINK)
    assert plan.ids == {"/tmp/1_a.id": "_1a2b_0_cuda_gym", "/tmp/2_b.id": "_1a2b_1_cuda_gym"}
    assert "--gen_module_id_file" not in plan.script()


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEAD,
        HEAD + LINK,
        HEAD + UNIT,
        HEAD + UNIT + '#$ nvlink --shared "/tmp/1_a.o"\n' + LINK,
        HEAD + UNIT.replace("cudafe++", "newtool") + LINK,
        HEAD + UNIT.replace("1_a.cpp4.ii", "1_a.other", 1) + LINK,
        "nvcc fatal   : Unknown option '--no-device-link'\n",
    ],
)
def test_a_plan_of_another_form_is_none(text: str) -> None:
    assert read_plan(text, "1a2b") is None


def _run(tmp_path: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run the plan with programs that say their names, but for those that are given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("gcc", "g++", "cudafe++", "cicc", "ptxas", "fatbinary"):
        program = folder / name
        program.write_text(f"#!/bin/sh\n{programs.get(name, f'echo {name}')}\n")
        program.chmod(0o755)
    head = f"#$ CICC_PATH={folder}\n#$ PATH={folder}:/usr/bin:/bin\n"
    text = head + (UNIT + LINK).replace("/tmp/", f"{tmp_path}/")
    (tmp_path / "build.sh").write_text(_plan(text).script())
    return subprocess.run(
        ["/bin/sh", "build.sh"], cwd=tmp_path, capture_output=True, text=True, check=False
    )


def test_everything_is_run_and_told_in_the_order_of_nvcc(tmp_path: Path) -> None:
    done = _run(tmp_path)
    assert done.returncode == 0, done.stderr
    said = ["gcc", "cudafe++", "gcc", "cicc", "ptxas", "fatbinary", "gcc", "g++"]
    assert done.stdout.split() == said


@pytest.mark.parametrize("failing", ["cudafe++", "cicc", "ptxas", "g++"])
def test_a_program_that_fails_ends_the_build_with_what_it_said(
    tmp_path: Path, failing: str
) -> None:
    done = _run(tmp_path, **{failing: "echo this is wrong; exit 2"})
    assert done.returncode == 1
    assert "this is wrong" in done.stdout
    assert ("g++" in done.stdout.split()) is False


def test_what_both_front_ends_find_is_told_by_one(tmp_path: Path) -> None:
    done = _run(tmp_path, **{"cudafe++": "echo host; exit 2", "cicc": "echo device; exit 2"})
    assert done.stdout.split() == ["gcc", "host"]
