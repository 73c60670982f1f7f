"""Submissions with bindings of their own, as the judge of a device without a GPU sees them."""

from __future__ import annotations

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import Refused
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.toolchains.extension_rules import inline_texts
from cuda_gym.judge.toolchains.extension_units import binding_place
from cuda_gym.judge.verification.static_checks import check_kernels

BINDING = (
    '#include <torch/types.h>\n#include "../binding_registry.h"\nREGISTER_BINDING(scale, f);\n'
)


def test_a_published_folder_is_unsupported_on_cpu_and_not_half_compiled(
    judge: Judge, scale_task: Task
) -> None:
    files = {"kernels/scale.cu": SCALE_KERNEL, "kernels/scale_binding.cpp": BINDING}
    findings = judge.compile(scale_task, Submission.of({"model_new.py": SCALE_MODEL, **files}))
    assert findings.outcome is Outcome.UNSUPPORTED_ON_DEVICE
    assert findings.summary.startswith(
        "kernels/scale_binding.cpp:1: error: bindings for torch need"
    )


@pytest.mark.parametrize(
    "text",
    [
        "// no #include <torch/extension.h> and no PYBIND11_MODULE(name, m) here",
        "/* REGISTER_BINDING(scale, f) */",
        'static const char* const kNote = "instead of PYBIND11_MODULE(name, m)";',
    ],
)
def test_a_word_about_bindings_binds_nothing(text: str) -> None:
    files = {"model_new.py": SCALE_MODEL, "kernels/scale.cu": f"{text}\n{SCALE_KERNEL}"}
    assert binding_place(Submission.of(files)) is None


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        ("#include <thread>", "scale.cu:1 includes 'thread'"),
        ("void f() { system(0); }", "scale.cu:1 calls system()"),
    ],
)
def test_the_sources_of_load_inline_are_checked_like_files(source: str, fact: str) -> None:
    model = (
        "from torch.utils.cpp_extension import load_inline\n"
        f"load_inline(name='scale', cpp_sources='', cuda_sources={source!r})\n"
    )
    with pytest.raises(Refused) as caught:
        check_kernels(inline_texts(model), ())
    assert fact in str(caught.value)
