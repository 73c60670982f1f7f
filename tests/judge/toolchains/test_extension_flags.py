from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.extension_flags import allowed_flags, standard_of


@pytest.mark.parametrize(
    "flag",
    ["-O3", "--use_fast_math", "-std=c++17", "-lineinfo", "-DN=4", "-DUSE_FAST", "-maxrregcount=64",
     "-U__CUDA_NO_HALF_OPERATORS__", "--expt-extended-lambda", "-ftz=true"],
)  # fmt: skip
def test_what_tunes_a_kernel_is_for_the_submission_to_choose(flag: str) -> None:
    assert allowed_flags([flag]) == ((flag,), ())


@pytest.mark.parametrize(
    "flag",
    ["-lcublas", "-I/etc", "-include=/etc/passwd", "@flags", "-fplugin=x.so", "-o", "-x", "-ccbin=sh",
     "-DA=$(id)", "-DA=`id`", "-DA=1;id", "--dryrun", "-DA=x\n-o", "-Xcompiler=-fplugin=x.so",
     "-wrapper", "--options-file=x", "-B."],
)  # fmt: skip
def test_what_reaches_out_of_the_sources_is_left_out_and_named(flag: str) -> None:
    assert allowed_flags([flag]) == ((), (flag,))


def test_what_is_given_anyhow_needs_no_mention() -> None:
    assert allowed_flags(["", "-fPIC", "-Xptxas", "-v", "--ptxas-options=-v", "-arch=sm_90a"]) == (
        (),
        (),
    )


def test_a_flag_and_its_value_may_be_two() -> None:
    assert allowed_flags(["-D", "N=4", "-maxrregcount", "64"]) == (
        ("-DN=4", "-maxrregcount=64"),
        (),
    )


def test_a_module_keeps_the_name_it_is_imported_by() -> None:
    assert allowed_flags(["-DTORCH_EXTENSION_NAME=other"])[0] == ()


def test_the_standard_is_never_older_than_torchs_own() -> None:
    assert standard_of(["-std=c++14", "-O2"], 17) == ("-std=c++17", ("-O2",))
    assert standard_of(["-std=c++20"], 17) == ("-std=c++20", ())
