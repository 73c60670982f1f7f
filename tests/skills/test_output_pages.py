"""The pages that skills show are what the tools say of the code beside them, numbers aside."""

from __future__ import annotations

import re

import pytest
from benchmarks.worked_example import submission
from tests.skills.examples import blocks

from cuda_gym.core.findings import Build, Findings, KernelResources, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import DeviceRates, KernelTime, Profile, Timing, Verdict, Work
from cuda_gym.envs.feedback.compile_page import describe_build
from cuda_gym.envs.feedback.findings_page import describe_findings
from cuda_gym.envs.feedback.profile_page import describe_verdict
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler

TASK = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return {formula}


rows = {rows}
columns = {columns}


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
"""
MODEL = """\
import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        out = torch.empty({shape}, dtype=x.dtype, device=x.device)
        cuda_extension.{call}
        return out
"""
CASES = {
    "kernels/scale.cu": ("2.0 * x", "rows, columns", "scale(out, x, 2.0, x.numel())"),
    "kernels/twice.cu": ("2.0 * x", "rows, columns", "twice(out, x, x.numel())"),
    "kernels/row_max.cu": ("x.amax(dim=-1)", "rows", "row_max(out, x, rows, columns)"),
}
"""What the reference computes, and how the kernels of a file are called."""


NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?(?: (?:[mu]?s|[kMG]?B)\b)?")


def masked(text: str) -> list[str]:
    """The lines, with a sign for each number with its unit, and one space between words."""
    return [" ".join(NUMBER.sub("#", line).split()) for line in text.strip().splitlines()]


def assert_said(page: str, said: str) -> None:
    """Every line of a page is among what was said, in this order."""
    rest = iter(masked(said))
    for line in masked(page):
        assert any(line == other for other in rest), f"{line!r} is not said (there): {said}"


def shown_with(skill: str, tool: str) -> list[tuple[str, str, str]]:
    """(file, code, page) for each page of a tool that stands behind wrong code."""
    pairs = zip(blocks(skill), blocks(skill)[1:], strict=False)
    return [
        (code.file, code.body, page.body)
        for code, page in pairs
        if code.is_wrong and code.file and page.info == f"text says={tool}"
    ]


def tried(file: str, code: str) -> tuple[Task, Submission]:
    formula, shape, call = CASES[file]
    source = TASK.format(formula=formula, rows=20, columns=77 if shape != "rows" else 300)
    task = Task(id=f"pages/{file}", title="a page", source=source)
    model = MODEL.format(shape=shape, call=call)
    return task, Submission.of({"model_new.py": model, file: code})


def test_every_wrong_code_has_its_page() -> None:
    pages = [(skill, tool) for skill, tool in (("compiler_output", "compile"), ("verify_output", "verify"))
             for _ in shown_with(skill, tool)]  # fmt: skip
    assert len(pages) == len(CASES)


@pytest.mark.skipif("g++" not in find_compiler().version, reason="the page is g++'s")
def test_compile_says_what_the_page_shows(judge: Judge) -> None:
    for file, code, page in shown_with("compiler_output", "compile"):
        task, wrong = tried(file, code)
        findings = judge.compile(task, wrong)
        assert findings.outcome is Outcome.COMPILE_ERROR
        assert_said(page, describe_findings(findings, wrong))


@pytest.mark.parametrize(("file", "code", "page"), shown_with("verify_output", "verify"))
def test_verify_says_what_the_page_shows(file: str, code: str, page: str, judge: Judge) -> None:
    task, wrong = tried(file, code)
    findings = judge.verify(task, wrong)
    assert findings.outcome is Outcome.WRONG
    assert_said(page, describe_findings(findings, wrong))


def test_resources_are_told_in_the_form_that_the_page_shows() -> None:
    [page] = [b.body for b in blocks("compiler_output") if b.info == "text"]
    kernels = (
        KernelResources(name="row_max_kernel", mode="phases", shared_bytes=512),
        KernelResources(
            name="gemm_kernel",
            registers=128,
            spill_bytes=96,
            shared_bytes=33280,
            occupancy=0.25,
            block_threads=256,
            limited_by="registers",
        ),
    )
    build = Build(key="", library="", toolchain="nvcc", build_s=1.0, cached=False, kernels=kernels)
    assert_said(page, describe_build(build))


def test_profile_says_what_the_page_shows() -> None:
    [page] = [b.body for b in blocks("profile_output") if b.info == "text says=profile"]
    first = submission(1)
    said = describe_verdict(measured(first), first)
    lines = said.splitlines()
    assert [line for line in page.splitlines() if line not in lines] == []


def measured(first: Submission) -> Verdict:
    """What was measured when the page was written."""
    summary = "Right on 8 hidden draws; the largest error is 7% of what is allowed."
    return Verdict(
        outcome=Outcome.CORRECT,
        task_id="core/rmsnorm_residual",
        submission=first.hash,
        device="cpu",
        findings=Findings(outcome=Outcome.CORRECT, summary=summary),
        fingerprint=None,
        timing=Timing(
            time_us=1450.0,
            compile_us=341.9,
            speedup=0.23,
            speedup_low=0.22,
            speedup_high=0.25,
            num_blocks=10,
            num_calls=80,
            timer="wall",
            eager_us=573.1,
        ),
        profile=Profile(
            call_us=1510.0,
            kernels=(
                KernelTime(
                    name="add_kernel",
                    launches=1,
                    total_us=416.6,
                    grid=(4096,),
                    block=(256,),
                    mode="loop",
                ),
                KernelTime(
                    name="normalise_kernel",
                    launches=1,
                    total_us=1010.0,
                    grid=(1,),
                    block=(1024,),
                    mode="loop",
                ),
            ),
            work=Work(read_bytes=8_392_704, written_bytes=4_194_304, flops=5.24e6),
            rates=DeviceRates(
                copy_gb_per_s=32.6, gflop_per_s=203.0, cache_bytes=33_554_432, num_cores=2
            ),
        ),
    )
