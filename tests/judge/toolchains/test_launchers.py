from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core.plain import as_plain
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_parameters import Parameter, ParameterKind
from cuda_gym.judge.toolchains.cuda_types import SCALAR_TYPES, VALUE_TYPES
from cuda_gym.judge.toolchains.launchers import Launcher, parse_launchers


def read(source: str) -> tuple[Launcher, ...]:
    return parse_launchers({"kernels/a.cu": source})


def signatures(source: str) -> list[str]:
    return [str(launcher) for launcher in read(source)]


def problems(source: str) -> list[str]:
    with pytest.raises(CompileError) as caught:
        read(source)
    return [str(diagnostic) for diagnostic in caught.value.diagnostics]


def test_a_launcher_has_its_types_its_place_and_its_stream() -> None:
    (launcher,) = read(
        '\nextern "C" int\nscale(float* __restrict__ out,\n'
        "      const float* const x, int64_t n, float by, cudaStream_t s) { return 0; }"
    )
    kinds = [(p.name, p.kind.value, p.type, p.const) for p in launcher.parameters]
    assert kinds == [
        ("out", "pointer", "float", False),
        ("x", "pointer", "float", True),
        ("n", "scalar", "long long", False),
        ("by", "scalar", "float", False),
        ("s", "stream", "cudaStream_t", False),
    ]
    assert (launcher.returns, launcher.file, launcher.line) == ("int", "kernels/a.cu", 3)
    assert str(launcher) == "scale(float* out, const float* x, long long n, float by)"


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("float const *x", "const float* x"),
        ("float x[]", "float* x"),
        ("const unsigned char x[16]", "const unsigned char* x"),
        ("half *x", "__half* x"),
        ("nv_bfloat16 const* __restrict x", "const __nv_bfloat16* x"),
        ("std::uint8_t* x", "unsigned char* x"),
        ("long int unsigned x", "unsigned long long x"),
        ("size_t x = sizeof(int) * (1, 2)", "unsigned long long x"),
        ("const unsigned x", "unsigned int x"),
        ("bool x = false", "bool x"),
        ("const void* x", "const void* x"),
        ("[[maybe_unused]] const float eps = 1e-5f", "float eps"),
        ("float*", "float* argument1"),
        ("int /* x, y */ n // , z", "int n"),
        ("float4* x", "float4* x"),
    ],
)
def test_every_spelling_of_a_type_is_understood(declaration: str, expected: str) -> None:
    assert signatures(f'extern "C" void f({declaration}\n) {{}}') == [f"f({expected})"]


@pytest.mark.parametrize(
    "stream", ["cudaStream_t s", "void* stream", "CUstream_st* q", "CUstream q"]
)
def test_a_stream_is_filled_in_wherever_it_stands(stream: str) -> None:
    (launcher,) = read(f'extern "C" void f({stream}, int n) {{}}')
    assert [p.kind for p in launcher.parameters] == [ParameterKind.STREAM, ParameterKind.SCALAR]
    assert str(launcher) == "f(int n)"


def test_only_definitions_that_c_can_call_are_launchers() -> None:
    source = r"""
    // extern "C" void comment(int n) {}
    /* extern "C" void comment(int n) {} */
    const char* text = "extern \"C\" void string(int n) {}";
    const char* raw = R"x(extern "C" void raw(int n) {})x";
    extern "C" void declared(float** x);
    extern "C" __global__ void kernel(float* x) {}
    extern "C" static void hidden(float& x) {}
    extern "C" int table[] = {1, 2};
    template <typename T> void generic(T& x) { if (x) { x = 0; } }
    void cpp_linkage(float& x) {}
    #define MACRO extern "C" void macro(int n) {}
    #if 0
    extern "C" void disabled(float& x) {}
    #endif
    extern "C" void launcher(int n) { kernel<<<1, 1>>>(nullptr); }
    """
    assert signatures(source) == ["launcher(int n)"]


def test_a_block_of_c_linkage_holds_many_launchers() -> None:
    source = """
    #ifdef __cplusplus
    extern "C" {
    #endif
    struct Shape { int rows; };
    static int helper(Shape& s) { return s.rows; }
    namespace deep { void one(int n) { for (;;) { break; } } }
    __attribute__((visibility("default"))) void two(float* x) noexcept {}
    #ifdef __cplusplus
    }
    #endif
    void three(float& x) {}
    """
    assert signatures(source) == ["one(int n)", "two(float* x)"]


def test_macros_and_conditionals_are_read_as_the_compiler_reads_them() -> None:
    source = """
    #define EXPORT extern "C" __attribute__((visibility("default"))) \\
        void
    #define RESTRICT __restrict__
    #define scalar_t double
    #ifdef NOBODY_DEFINED_THIS
    EXPORT f(int n) {
    #else
    EXPORT f(scalar_t* RESTRICT x) {
    #endif
    }
    """
    assert signatures(source) == ["f(double* x)"]
    assert read(source)[0].line == 9


@pytest.mark.parametrize(
    ("source", "fact", "remedy"),
    [
        ('extern "C" void f(float& x) {}', "is a reference", "take a pointer"),
        ('extern "C" void f(float** x) {}', "pointer to a pointer", "its own pointer"),
        ('extern "C" void f(int n, __half x) {}', "parameter 2", "pass a float"),
        ('extern "C" void f(dim3 grid) {}', "(dim3 grid)", "numbers as int"),
        ('extern "C" void f(std::vector<int> x) {}', "is a template", "take a pointer"),
        ('extern "C" void f(void (*g)(int)) {}', "pointer to a function", "write out"),
        ('extern "C" void f(int n, ...) {}', "is variadic", "name every parameter"),
        ('extern "C" void f(int n,) {}', "parameter 2", "use pointers"),
        ('extern "C" float* f(int n) {}', "returns 'float *'", "return void"),
        ('extern "C" void library(int n) {}', "cuda_extension itself", "rename it"),
        ('extern "C" void f(unsigned signed x) {}', "(unsigned signed x)", "int"),
    ],
)
def test_what_python_cannot_pass_is_refused_with_a_remedy(
    source: str, fact: str, remedy: str
) -> None:
    (problem,) = problems("\n" + source)
    assert problem.startswith("kernels/a.cu:2: error: ")
    assert fact in problem
    assert remedy in problem


@pytest.mark.parametrize(
    "names",
    [
        "using bf16 = __nv_bfloat16;\ntypedef unsigned u32;",
        "typedef nv_bfloat16 bf16; using word = uint32_t; using u32 = word;",
        "namespace a { using bf16 = __nv_bfloat16; }\nusing a::bf16; typedef unsigned int u32;",
        "struct S { using u32 = float; };\n#define bf16 __nv_bfloat16\nusing u32 = unsigned;",
        "void f() { using u32 = float; }\nusing bf16 = __nv_bfloat16; typedef unsigned u32;",
    ],
)
def test_names_that_a_source_gives_to_types_mean_the_types(names: str) -> None:
    told = signatures(f'{names}\nextern "C" void f(bf16* out, const bf16* x, u32 n) {{}}')
    assert told == ["f(__nv_bfloat16* out, const __nv_bfloat16* x, unsigned int n)"]


@pytest.mark.parametrize(
    "names",
    [
        "namespace a { using T = float; } namespace b { using T = double; }",
        "struct S { using T = float; };",
        "template <class U> using T = float;",
        "using T = float*;",
        "using T = T;",
    ],
)
def test_a_name_that_is_no_plain_type_is_no_type_that_python_can_pass(names: str) -> None:
    (problem,) = problems(f'{names}\nextern "C" void f(T* out) {{}}')
    assert "parameter 1 of launcher 'f' (T * out)" in problem


def test_macros_types_and_launchers_of_headers_count_at_the_line_that_includes_them() -> None:
    files = {
        "kernels/a.cu": '#pragma once\n#include "api.h"\n#include "lost.h"\nAPI void f(real* x) {}',
        "kernels/api.h": '#include "types/real.cuh"\n#define API extern "C"\nAPI void g(real x) {}\n',
        "kernels/types/real.cuh": '#include "../api.h"\n#include "api.h"\nusing real = float;',
    }
    found = parse_launchers(files)
    assert [(str(launcher), launcher.line) for launcher in found] == [
        ("g(float x)", 2),
        ("f(float* x)", 4),
    ]


@pytest.mark.parametrize(
    "declared",
    [
        'extern "C" void f(float*, int);',
        'extern "C" {\nint g(float x);\nstruct S { int x; };\nvoid f(float* x, int n);\n}',
        'extern "C" void g(int n) {}\nextern "C" int f(float*, int);',
    ],
)
def test_a_function_that_is_declared_with_a_c_name_is_a_launcher(declared: str) -> None:
    source = f"{declared}\nvoid h(float* x) {{}}\nvoid f(float* x, int n) {{}}"
    assert "f(float* x, int n)" in signatures(source)
    assert not any(told.startswith("h") for told in signatures(source))
    elsewhere = f"{declared}\nnamespace a {{ void f(float* x, int n) {{}} }}"
    assert "f" not in [f.name for f in parse_launchers({"a.cu": elsewhere}, required=False)]


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" ' * 20_000,
        'extern "C" {' * 20_000,
        'extern "C" void f();' * 10_000,
        "using T = " * 20_000,
        "typedef " + "a " * 50_000 + "{} " * 50_000,
        "namespace {" * 20_000,
    ],
)
def test_a_long_hostile_text_is_searched_to_its_end(text: str) -> None:
    assert parse_launchers({"a.cu": text}, required=False) == ()


def test_all_problems_are_told_at_once() -> None:
    assert len(problems('extern "C" void f(float& x) {}\nextern "C" void g(float& x) {}')) == 2


def test_two_launchers_of_one_name_are_an_error() -> None:
    with pytest.raises(CompileError, match=r"b\.cu:2: .*'f' is already defined at a\.cu:1"):
        parse_launchers(
            {"b.cu": '\nextern "C" void f() {}', "a.cu": 'extern "C" void f(void) {}', "c.h": "{"}
        )


def test_without_a_launcher_the_error_shows_one() -> None:
    (problem,) = problems("__global__ void k(float* x) {}")
    assert signatures(problem[problem.index("extern") :]) == [
        "name(float* out, const float* x, int n)"
    ]


def test_a_macro_that_makes_launchers_is_told_as_that() -> None:
    source = '\n#define LAUNCHER(name, T) \\\n    extern "C" void name(T* x) { k(x); }\nLAUNCHER(f, float)'
    (problem,) = problems(source)
    assert problem.startswith("kernels/a.cu:2: error: macro 'LAUNCHER' makes launchers")
    assert 'write out each extern "C" function' in problem


def test_headers_that_many_sources_would_read_are_left_to_the_compiler() -> None:
    files = {f"kernels/{n}.cu": '#include "large.h"\n' for n in range(20)}
    files["kernels/large.h"] = 'extern "C" void f() {}\n' + "x" * 200_000
    assert parse_launchers(files, required=False) == ()


FRAGMENTS = [
    "extern",
    '"C"',
    "{",
    "}",
    "(",
    ")",
    "void",
    "f",
    "float",
    "*",
    "[",
    "]",
    ",",
    ";",
    "\n",
]
FRAGMENTS += [
    "#if",
    "#else",
    "#endif",
    "#define",
    "A",
    "/*",
    "*/",
    "//",
    "\\",
    '"',
    'R"(',
    "'",
    "=",
]


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS)).map(" ".join)))
def test_any_text_is_read_or_a_compile_error(text: str) -> None:
    try:
        result = read(text)
    except CompileError as error:
        assert str(error)  # noqa: PT017 - either way is right
    else:
        assert result


SPELLINGS: dict[str, list[str]] = {
    "__half": ["half", "__half"],
    "__nv_bfloat16": ["nv_bfloat16", "__nv_bfloat16"],
    "long long": ["long", "long long int", "int64_t", "std::int64_t"],
    "unsigned int": ["unsigned", "uint32_t", "int unsigned"],
    "unsigned long long": ["size_t", "std::size_t", "unsigned long", "uint64_t"],
    "signed char": ["int8_t", "char signed"],
    "unsigned char": ["uint8_t", "std::uint8_t"],
}
GAPS = st.sampled_from([" ", "\n", " /* , ( */ ", "\t", " // ) {\n"])
NAMES = st.from_regex(r"[a-z]{1,3}_[0-9]", fullmatch=True)


@st.composite
def written_parameters(draw: st.DrawFn) -> tuple[str, Parameter]:
    kind = draw(st.sampled_from(ParameterKind))
    name = draw(NAMES)
    space: Callable[[], str] = lambda: draw(GAPS)  # noqa: E731
    if kind is ParameterKind.STREAM:
        return f"cudaStream_t{space()}{name}", Parameter(name=name, kind=kind, type="cudaStream_t")
    types = VALUE_TYPES if kind is ParameterKind.POINTER else SCALAR_TYPES
    type_ = draw(st.sampled_from(sorted(types)))
    spelling = draw(st.sampled_from([type_, *SPELLINGS.get(type_, [])])).replace(" ", space())
    const, after = draw(st.booleans()), draw(st.booleans())
    if const:
        spelling = f"{spelling}{space()}const" if after else f"const{space()}{spelling}"
    if kind is ParameterKind.SCALAR:
        return f"{spelling}{space()}{name}", Parameter(name=name, kind=kind, type=type_)
    stars = ["*{}", "* const {}", "*__restrict__ {}", "* __restrict__ const {}", " {}[]", " {}[8]"]
    declarator = draw(st.sampled_from(stars)).format(name)
    return spelling + declarator, Parameter(name=name, kind=kind, type=type_, const=const)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(written_parameters(), max_size=6),
    st.sampled_from(["void", "int", "cudaError_t"]),
    GAPS,
    st.booleans(),
)
def test_any_signature_is_read_back_exactly(
    parameters: list[tuple[str, Parameter]], returns: str, gap: str, is_block: bool
) -> None:
    written = f"{gap},{gap}".join(text for text, _ in parameters)
    function = f"{returns}{gap}launch{gap}({gap}{written}{gap}){gap}{{ f(a{{}}); }}"
    source = f'extern "C"{gap}' + (f"{{{gap}{function}{gap}}}" if is_block else function)
    (launcher,) = read(source)
    assert launcher.parameters == tuple(parameter for _, parameter in parameters)
    assert launcher.returns == returns
    assert launcher.line == source[: source.index("launch")].count("\n") + 1


def test_a_launcher_crosses_a_process_as_json() -> None:
    (launcher,) = read('extern "C" int f(const half* x, bool b, cudaStream_t stream) { return 0; }')
    assert Launcher.from_plain(json.loads(json.dumps(as_plain(launcher)))) == launcher


@pytest.mark.parametrize("piece", ["/*", 'R"x(', '"', "#", "\\", "#/*", "\n#", "(", "{", "#if 1\n"])
def test_a_long_hostile_text_is_read_to_its_end(piece: str) -> None:
    assert problems(piece * 20_000 + "\n")
