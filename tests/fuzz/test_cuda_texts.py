"""Everything that reads CUDA C++ as text: it gives an answer, or one of the documented errors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.hostile_texts import broken, fuzzed, real_kernels

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.braces import find_brace_trouble
from cuda_gym.envs.feedback.hints import hint_for
from cuda_gym.errors import CompileError, Refused, UnsupportedOnDevice
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite
from cuda_gym.judge.toolchains.device_rules import device_rule_warnings
from cuda_gym.judge.toolchains.direct_kernels import parse_kernels, with_entries
from cuda_gym.judge.toolchains.function_places import extern_c_warnings
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.toolchains.print_warnings import print_warnings
from cuda_gym.judge.toolchains.stream_warnings import stream_warnings
from cuda_gym.judge.verification.static_checks import check_kernels

TEXTS = broken(real_kernels())
PATH = "kernels/a.cu"


@fuzzed(120)
@given(TEXTS)
def test_signatures_are_read_or_are_compile_errors(text: str) -> None:
    try:
        launchers = parse_launchers({PATH: text})
    except CompileError as error:
        assert error.diagnostics  # noqa: PT017 - either way is right
    else:
        assert all(1 <= launcher.line <= text.count("\n") + 1 for launcher in launchers)


@fuzzed(80)
@given(TEXTS)
def test_kernels_are_found_and_entries_leave_the_text_alone(text: str) -> None:
    assert all(1 <= kernel.line <= text.count("\n") + 1 for kernel in parse_kernels({PATH: text}))
    assert with_entries({PATH: text})[PATH].startswith(text)


@fuzzed(150)
@given(TEXTS, st.booleans(), st.booleans(), st.booleans())
def test_what_is_rewritten_for_the_host_keeps_its_lines(
    text: str, checking: bool, cuts: bool, is_submission: bool
) -> None:
    try:
        program = rewrite({PATH: text}, checking=checking, cuts=cuts, is_submission=is_submission)
    except (CompileError, UnsupportedOnDevice) as error:
        assert str(error)  # noqa: PT017 - either way is right
    else:
        assert program.files[PATH].text.count("\n") == text.count("\n")


@fuzzed(80)
@given(TEXTS)
def test_warnings_about_a_text_lie_inside_it(text: str) -> None:
    files = {PATH: text}
    found = [
        *stream_warnings(files),
        *print_warnings(files),
        *device_rule_warnings(files),
        *extern_c_warnings(files, "import cuda_extension\ncuda_extension.softmax(x)"),
    ]
    assert all(1 <= (warning.line or 1) <= text.count("\n") + 1 for warning in found)


@fuzzed(60)
@given(TEXTS)
def test_the_rules_for_kernels_answer_for_any_text(text: str) -> None:
    try:
        facts = check_kernels({PATH: text}, ())
    except (CompileError, Refused) as error:
        assert str(error)  # noqa: PT017 - either way is right
    else:
        assert all(isinstance(fact, str) for fact in facts)


MESSAGES = st.sampled_from(
    [
        "expected '}' at end of input",
        "expected ';' before 'float'",
        "'foo' was not declared in this scope",
        'identifier "foo" is undefined',
        "no matching function for call to 'f(float*)'",
        "too few arguments to function 'void f(int)'",
        "expected a declaration",
    ]
)


@fuzzed(60)
@given(TEXTS, MESSAGES, st.integers(-2, 500), st.integers(-2, 200))
def test_hints_are_found_for_any_text_and_any_place(
    text: str, message: str, line: int, column: int
) -> None:
    error = Diagnostic(
        severity=Severity.ERROR, message=message, file=PATH, line=line, column=column
    )
    hint = hint_for(error, [], Submission.of({PATH: text}))
    assert hint is None or hint
    find_brace_trouble(text)
