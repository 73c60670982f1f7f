"""One short remedy for what g++, clang or nvcc says, where a plain one is known.

A hint is a fact about CUDA or about the agent's own files, never a guess at what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cuda_gym.core.findings import Diagnostic
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback import source_facts
from cuda_gym.envs.feedback.unknown_names import explain_unknown

__all__ = ["hint_for"]

_Explain = Callable[["re.Match[str]", Diagnostic, Submission], "str | None"]


def hint_for(
    diagnostic: Diagnostic, added: Sequence[Diagnostic], submission: Submission
) -> str | None:
    """What to do about a message; None where there is nothing safe to say.

    Args:
        diagnostic: The message.
        added: Notes on it, and other messages about the same line.
        submission: The files that were compiled.
    """
    said = "\n".join([diagnostic.message, *(other.message for other in added)])
    for remedy in _REMEDIES:
        found = remedy.pattern.search(said)
        if found is None:
            continue
        if isinstance(remedy.hint, str):
            return found.expand(remedy.hint)
        hint = remedy.hint(found, diagnostic, submission)
        if hint:
            return hint
    return None


@dataclass(frozen=True)
class _Remedy:
    pattern: re.Pattern[str]
    hint: str | _Explain


def _where(pattern: str, hint: str) -> _Explain:
    """The hint, where the line itself is of a form: nvcc's messages say less than GCC's."""

    def explain(_: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
        return source_facts.line_holds(pattern, hint, diagnostic, submission)

    return explain


def _usage(found: re.Match[str], _diagnostic: Diagnostic, _submission: Submission) -> str | None:
    usage = _USAGE.get(found["name"])
    return None if usage is None else f"it is {usage}"


def _member(found: re.Match[str], _diagnostic: Diagnostic, _submission: Submission) -> str:
    return f"a {found['type']} has {_MEMBERS[found['type'][-1]]}"


_MEMBERS = {"1": "x", "2": "x and y", "3": "x, y and z", "4": "x, y, z and w"}
_USAGE = {
    "__shfl_sync": "__shfl_sync(mask, value, lane)",
    "__shfl_up_sync": "__shfl_up_sync(mask, value, delta)",
    "__shfl_down_sync": "__shfl_down_sync(mask, value, delta)",
    "__shfl_xor_sync": "__shfl_xor_sync(mask, value, lane_mask)",
    "__ballot_sync": "__ballot_sync(mask, predicate)",
    "__any_sync": "__any_sync(mask, predicate)",
    "__all_sync": "__all_sync(mask, predicate)",
    "atomicAdd": "atomicAdd(pointer, value), as in atomicAdd(&out[i], v), of one type",
    "atomicSub": "atomicSub(pointer, value), of integers",
    "atomicMax": "atomicMax(pointer, value), of integers; for float loop over atomicCAS on the bits",
    "atomicMin": "atomicMin(pointer, value), of integers; for float loop over atomicCAS on the bits",
    "atomicCAS": "atomicCAS(pointer, compare, value), of integers; for float on the bits",
    "atomicExch": "atomicExch(pointer, value)",
    "__ldg": "__ldg(pointer)",
    "make_float2": "make_float2(x, y)",
    "make_float4": "make_float4(x, y, z, w)",
    "dim3": "dim3(x, y, z), with y and z left out where they are 1",
    "cudaMemsetAsync": "cudaMemsetAsync(pointer, value, bytes, stream)",
    "cudaMemcpyAsync": "cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)",
    "max": "max(a, b) of one type: fmaxf(a, b) for float, or write 2.0f and not 2.0",
    "min": "min(a, b) of one type: fminf(a, b) for float, or write 2.0f and not 2.0",
}
_MARKDOWN = "the file holds the ``` of a Markdown block; write the code alone"
_THREE = "a launch has three angle brackets: kernel<<<grid, block>>>(...)"
_NO_OPERATORS = "has no operators in CUDA; compute each member by itself"
_NO_TEMPLATE = 'an extern "C" function is no template; let a plain one call the template'
_TYPE = r"u?(?:char|short|int|long|longlong)|float|double"
_VECTOR = rf"(?P<type>(?:{_TYPE})[1-4])"
_REMEDIES = tuple(
    _Remedy(re.compile(pattern), hint)
    for pattern, hint in (
        (r"stray '`'", _MARKDOWN),
        (r"unrecognized token", _where(r"^\s*```", _MARKDOWN)),
        (
            r"stray '\\|extended character|stray '\W|unrecognized token",
            "only comments and strings may hold characters that are not ASCII",
        ),
        (
            r"invalid preprocessing directive (?!.*did you mean)#\w",
            "a comment in CUDA C++ begins with //",
        ),
        (r"expected [^\n]*';'[^\n]* before|expected a \";\"", source_facts.missing_semicolon),
        (
            r"expected '}'|before '}' token|expected unqualified-id|function-definition is not allowed"
            r"|does not name a type|expected a? ?declaration|expected constructor|end of input"
            r"|linkage specification|explicit type is missing|expected a \"}\"",
            source_facts.brace_of,
        ),
        (
            r"storage size of '\w+' isn't constant|array bound is not an integer constant"
            r"|variable length array cannot have static",
            "the size of an array is a constant; for one of the launch write `extern __shared__ "
            "float name[];` and give its bytes as the third value in <<<grid, block, bytes>>>",
        ),
        (
            rf"no match for 'operator[^']+'[^\n]*'(?:const )?(?:struct )?{_VECTOR}",
            rf"\g<type> {_NO_OPERATORS}",
        ),
        (
            r'no operator "[^"]+" matches these operands',
            _where(rf"\b{_VECTOR.replace('?P<type>', '')}\b", f"a vector type {_NO_OPERATORS}"),
        ),
        (
            r"'(?:const )?dim3' has no member|class \"(?:dim3|uint3)\" has no member",
            "threadIdx, blockIdx, blockDim and gridDim have x, y and z",
        ),
        (rf"['\"](?:const )?(?:struct )?{_VECTOR}[&'\"]* has no member", _member),
        (
            r"['\"](?:const )?(?:struct )?(?:__half|__nv_bfloat16)['\"] has no member",
            "convert it: __half2float(h), __float2half(f)",
        ),
        (r"'void\s?\([^\n]*\)' and [^\n]* to binary 'operator<<'", _THREE),
        (
            r"expression must have integral or unscoped enum",
            _where(r"\w\s*<<[^<].*[^>]>>\s*\(", _THREE),
        ),
        (r"must be configured", _THREE),
        (r"read-only location '(?P<place>[^']*)'|modifiable lvalue", source_facts.const_place),
        (
            r"invalid conversion from|cannot convert|is incompatible with parameter|in function call"
            r"|no suitable conversion",
            source_facts.parameters_of_call,
        ),
        (
            r"(?s)call to '(?P<name>\w+)\(.*couldn't deduce template parameter '(?P<what>\w+)'",
            r"name \g<what> in the call: \g<name><...>(...)",
        ),
        (
            r"is not a constant expression|not usable in a constant expression|have a constant value",
            "it has to be known when compiling: pass it as an argument, or switch between a few instances",
        ),
        (
            r'no instance of function template "(?P<name>\w+)"',
            source_facts.missing_template_argument,
        ),
        (
            r"ISO C\+\+ forbids declaration of '(?P<name>(?!parameter')\w+)' with no type",
            r"write the type in front of \g<name>, such as void or float",
        ),
        (r"explicit type is missing", "write the type in front, such as void or float"),
        (r"template with C linkage", _NO_TEMPLATE),
        (r'may not have extern "C" linkage', _where(r"\btemplate\b", _NO_TEMPLATE)),
        (
            r"calling a __host__ function\(\"(?P<name>[\w:]+)",
            r"write __device__ in front of \g<name>",
        ),
        (r"(?P<file>[\w./-]+\.(?:cuh?|hp?p?)): No such file", source_facts.missing_header),
        (
            r"undefined reference to [`'](?P<name>[\w:~]+)|Unresolved extern function [`'](?P<symbol>\w+)",
            source_facts.undefined_function,
        ),
        (r"(?:call to|call of overloaded) '(?P<name>\w+)(?:::dim3)?\(", _usage),
        (r"no instance of [\w ]+ \"(?:std::)?(?P<name>\w+)(?:::\w+)?\" matches", _usage),
        (r"", explain_unknown),
    )
)
