from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.toolkit_facts import (
    architecture_for,
    cuda_runtime,
    require_architecture,
    require_driver,
)

SCRIPT = """\
#!/bin/sh
case "$*" in
  *--list-gpu-code*) echo "sm_75"; echo "sm_80"; echo "sm_90" ;;
  *-arch=sm_90a*|*-arch=sm_90\\ *|*-arch=sm_80\\ *) echo "#$ gcc" ;;
  *-arch=*) echo "nvcc fatal   : Unsupported gpu architecture"; exit 1 ;;
  *) echo '#$ LIBRARIES=  "-LLIBS/stubs" "-LLIBS"' ;;
esac
"""


@pytest.fixture
def nvcc(tmp_path: Path) -> Compiler:
    """A program that answers as nvcc 12.4 does."""
    program = tmp_path / "nvcc"
    program.write_text(SCRIPT.replace("LIBS", str(tmp_path / "lib")))
    program.chmod(0o755)
    return Compiler(command=(str(program),), version="nvcc 12.4.131", identity="x")


def test_a_gpu_is_built_for_with_all_that_it_can(nvcc: Compiler) -> None:
    assert architecture_for(nvcc, (9, 0)) == "sm_90a"
    assert architecture_for(nvcc, (8, 0)) == "sm_80"


def test_a_toolkit_that_does_not_know_the_variant_builds_the_plain_one(nvcc: Compiler) -> None:
    assert architecture_for(nvcc, (12, 0)) == "sm_120"


def test_a_gpu_newer_than_the_toolkit_is_told_with_the_remedy(nvcc: Compiler) -> None:
    with pytest.raises(MissingTool, match=r"nvcc 12\.4\.131 does not build for sm_120.*newer CUDA"):
        require_architecture(nvcc, "sm_120")


def test_a_gpu_older_than_the_toolkit_is_told_with_the_remedy(nvcc: Compiler) -> None:
    said = r"does not build for sm_61, .* builds for sm_75, sm_80, sm_90\. Install an older CUDA"
    with pytest.raises(MissingTool, match=said):
        require_architecture(nvcc, "sm_61")
    require_architecture(nvcc, "sm_80")


def test_a_driver_of_an_earlier_major_version_is_told_with_both(nvcc: Compiler) -> None:
    with pytest.raises(
        MissingTool, match=r"nvcc 12\.4\.131 builds for CUDA 12.*CUDA 11\.8 at most"
    ):
        require_driver(nvcc, (11, 8))


@pytest.mark.parametrize("driver", [(12, 0), (13, 0), None])
def test_within_a_major_version_every_driver_will_do(
    nvcc: Compiler, driver: tuple[int, int] | None
) -> None:
    require_driver(nvcc, driver)


@pytest.mark.parametrize("name", ["libcudart.so", "libcudart.so.12"])
def test_the_runtime_is_found_under_either_name(nvcc: Compiler, tmp_path: Path, name: str) -> None:
    (tmp_path / "lib" / "stubs").mkdir(parents=True)
    (tmp_path / "lib" / "stubs" / "libcudart.so").touch()
    (tmp_path / "lib" / name).touch()
    assert cuda_runtime(nvcc) == tmp_path / "lib" / name


def test_folders_that_nvcc_is_given_come_first(nvcc: Compiler, tmp_path: Path) -> None:
    given = tmp_path / "wheel"
    given.mkdir()
    (given / "libcudart.so.12").touch()
    told = Compiler(command=(*nvcc.command, "-L", str(given)), version="nvcc 12.4.1", identity="y")
    assert cuda_runtime(told) == given / "libcudart.so.12"


def test_a_toolkit_without_runtime_is_told_with_the_remedy(nvcc: Compiler) -> None:
    with pytest.raises(MissingTool, match="pip install nvidia-cuda-runtime"):
        cuda_runtime(nvcc)
