from __future__ import annotations

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.error_groups import ErrorGroup, group_diagnostics

SOURCE = "first\nindex_t i = 3;\ny[i] = 4;\n    g();\nlast\n"
FILES = Submission.of({"kernels/a.cu": SOURCE, "kernels/b.cu": SOURCE})


def error(
    message: str, line: int | None, column: int = 1, *, file: str | None = "kernels/a.cu"
) -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, message=message, file=file, line=line, column=column)


def groups(*diagnostics: Diagnostic) -> list[ErrorGroup]:
    return group_diagnostics(diagnostics, Severity.ERROR, FILES)


def unknown(name: str) -> str:
    return f"'{name}' was not declared in this scope"


def test_files_keep_the_order_of_the_compiler_and_lines_that_of_the_source() -> None:
    found = groups(
        error("c", 9, file="kernels/b.cu"), error("b", 4), error("a", 1, file="kernels/b.cu")
    )
    assert [group.lead.message for group in found] == ["a", "c", "b"]


def test_an_unknown_name_leads_and_the_syntax_errors_of_its_line_follow() -> None:
    (group,) = groups(
        error("expected '>' before x", 3, 2), error(unknown("x"), 3, 4), error("expected ':'", 3, 9)
    )
    assert group.lead.message == unknown("x")
    assert len(group.follow_ons) == 2


def test_two_mistakes_of_one_line_are_both_told() -> None:
    (group,) = groups(error(unknown("x"), 3), error(unknown("z"), 3, 5))
    assert [other.message for other in group.others] == [unknown("z")]


def test_a_name_whose_declaration_failed_is_no_second_error() -> None:
    (group,) = groups(error(unknown("index_t"), 2), error(unknown("i"), 3), error(unknown("i"), 5))
    assert [d.message for d in group.follow_ons] == [unknown("i"), unknown("i")]


def test_a_name_that_is_unknown_everywhere_is_one_error() -> None:
    (group,) = groups(*(error(f"{unknown('q')}; did you mean 'p'?", n) for n in (1, 3, 5)))
    assert [d.line for d in group.also] == [3, 5]


def test_notes_stay_with_their_message() -> None:
    note = Diagnostic(severity=Severity.NOTE, message="because", file="kernels/a.cu", line=1)
    late, early = groups(error("x", 5), note, error("y", 2))[::-1]
    assert (late.notes, early.notes) == ([note], [])


def test_errors_without_a_place_are_not_one() -> None:
    assert len(groups(error("a", None, file=None), error("b", None, file=None))) == 2


def test_nothing_is_lost() -> None:
    given = [error(m, n) for n in range(1, 6) for m in (unknown("x"), "expected ';'", f"own {n}")]
    told = 0
    for group in groups(*given):
        told += 1 + len(group.others) + len(group.also) + len(group.follow_ons)
    assert told == len(given)


def test_parameters_of_a_head_that_did_not_compile_are_no_further_errors() -> None:
    source = "__global__ void k(floa* out, const float* x,\n                  int n) {\n    out[n] = x[n];\n}\n"
    files = Submission.of({"kernels/a.cu": source})
    errors = [error(unknown("floa"), 1), *(error(unknown(name), 3) for name in ("out", "n", "x"))]
    (group,) = group_diagnostics(errors, Severity.ERROR, files)
    assert len(group.follow_ons) == 3


def test_messages_that_differ_in_template_arguments_are_one() -> None:
    (group,) = groups(*(error(f"no match for 'f<{n}, 2>(int)'", n) for n in (1, 3, 5)))
    assert [d.line for d in group.also] == [3, 5]
