from __future__ import annotations

from cuda_gym.core.findings import Severity
from cuda_gym.judge.toolchains.cuda_on_cpu.diagnostics import parse_diagnostics
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite

FILES = rewrite({"kernels/k.cu": "int x;\n" * 50}).files


def told(output: str) -> list[str]:
    return [str(diagnostic) for diagnostic in parse_diagnostics(output, FILES)]


def test_a_message_keeps_place_severity_and_text() -> None:
    (diagnostic,) = parse_diagnostics("kernels/k.cu:3:5: warning: careful\n", FILES)
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == ("kernels/k.cu", 3, 5)
    assert (diagnostic.severity, diagnostic.message) == (Severity.WARNING, "careful")


def test_errors_come_first_and_notes_stay_with_them() -> None:
    output = (
        "kernels/k.cu:1:1: warning: w\n"
        "kernels/k.cu:2:1: note: about w\n"
        "kernels/k.cu:3:1: error: e\n"
        "kernels/k.cu:4:1: note: about e\n"
    )
    assert [line.rsplit(" ", 1)[1] for line in told(output)] == ["e", "e", "w", "w"]


def test_a_message_is_told_once() -> None:
    assert len(told("kernels/k.cu:3:5: error: no\n" * 3)) == 1


def test_an_error_in_our_headers_is_told_where_the_agent_led_there() -> None:
    output = (
        "/usr/include/warp.h: In instantiation of 'T shuffle(T) [with T = S]':\n"
        "kernels/k.cu:7:3:   required from here\n"
        "/usr/include/warp.h:30:3: error: static assertion failed: too large\n"
        "/usr/include/warp.h:30:3: note: the value is 24\n"
    )
    assert told(output) == ["kernels/k.cu:7:3: error: static assertion failed: too large"]


def test_warnings_and_notes_of_other_headers_are_not_told() -> None:
    output = "/usr/include/x.h:1:1: warning: w\n/usr/include/x.h:1:1: note: n\n"
    assert told(output) == []


def test_our_names_are_out_of_sight() -> None:
    output = (
        "kernels/k.cu:1:1: error: too few arguments to function "
        "'void k(const cuda_on_cpu::Thread&, float*, int)'\n"
        "kernels/k.cu:2:1: error: no match in 'f(const Thread&) [with T = cuda_on_cpu::Index]'\n"
        "kernels/k.cu:3:1: note: in expansion of macro 'CUDA_ON_CPU_PROLOGUE'\n"
    )
    assert told(output) == [
        "kernels/k.cu:1:1: error: too few arguments to function 'void k(float*, int)'",
        "kernels/k.cu:2:1: error: no match in 'f(const Thread&) [with T = dim3]'",
    ]


def test_the_linker_is_heard() -> None:
    output = (
        "/usr/bin/ld: /tmp/cc.o: in function `go':\n(.text+0x5): undefined reference to `f(int)'\n"
    )
    assert told(output) == ["undefined reference to `f(int)'"]


def test_long_messages_and_long_lists_are_cut() -> None:
    output = "\n".join(f"kernels/k.cu:{i + 1}:1: error: {'x' * 5000}{i}" for i in range(50))
    found = parse_diagnostics(output, FILES)
    assert len(found) == 30
    assert all(len(d.message) <= 600 for d in found)


def test_an_error_inside_a_template_of_the_agent_names_who_instantiates_it() -> None:
    output = (
        "kernels/k.cu: In instantiation of 'T sum_of(const float*) [with T = float]':\n"
        "kernels/k.cu:17:4:   required from here\n"
        "kernels/k.cu:8:5: error: 'one' is not a member of 'float'\n"
        "kernels/k.cu:20:1: error: unrelated\n"
    )
    assert told(output) == [
        "kernels/k.cu:8:5: error: 'one' is not a member of 'float'",
        "kernels/k.cu:17:4: note: the template is instantiated here",
        "kernels/k.cu:20:1: error: unrelated",
    ]


def test_what_gcc_says_of_addresses_and_aliases_is_told_as_it_was_written() -> None:
    output = (
        "kernels/k.cu:1:9: error: assignment of read-only location "
        "'*(x + ((sizetype)(((long unsigned int)i) * 4)))'\n"
        "kernels/k.cu:2:1: error: 'const cuda_on_cpu::Index' {aka 'const struct uint3'} has no member named 'w'\n"
        "kernels/k.cu:3:1: error: no matching function for call to 'cuda_on_cpu::Configuration::Configuration(int)'\n"
    )
    assert [line.partition("error: ")[2] for line in told(output)] == [
        "assignment of read-only location 'x[i]'",
        "'const dim3' has no member named 'w'",
        "a launch takes two to four values: kernel<<<grid, block, shared bytes, stream>>>(...)",
    ]
