"""One short remedy for what a compiler says, where a plain one is known.

A hint is a fact about CUDA or about the agent's own files, never a guess at what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cuda_gym.core import Diagnostic, Submission
from cuda_gym.envs.feedback.braces import find_brace_trouble
from cuda_gym.envs.feedback.excerpts import source_lines
from cuda_gym.envs.feedback.unknown_names import explain_unknown
from cuda_gym.judge.verification.cpp_text import mask

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


def _semicolon(_: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
    """The compiler points at what comes after the gap."""
    lines = source_lines(submission, diagnostic.file)
    line, column = diagnostic.line or 0, diagnostic.column or 0
    if not 1 < line <= len(lines) or lines[line - 1][: column - 1].strip():
        return None
    before = next((n for n in range(line - 1, 0, -1) if mask(lines[n - 1]).strip()), None)
    return None if before is None else f"a ';' is missing at the end of line {before}"


def _braces(_: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
    text = submission.text(diagnostic.file or "") or ""
    trouble = find_brace_trouble(text)
    opened = re.search(r"'\{' of line (\d+) is", trouble or "")
    if opened is None:
        return trouble
    return f"{trouble}: {text.splitlines()[int(opened[1]) - 1].strip()[:80]}"


def _header(found: re.Match[str], _: Diagnostic, submission: Submission) -> str:
    own = [path for path in submission.paths if path.endswith((".cuh", ".h", ".hpp"))]
    there = ", ".join(own) if own else "none"
    return f"a submission's own headers lie beside it in kernels/ (there: {there}); write {found[1]}, or remove the #include"


def _undefined(found: re.Match[str], _: Diagnostic, submission: Submission) -> str:
    name = found["name"].rpartition("::")[2]
    for path in submission.paths:
        for number, line in enumerate(source_lines(submission, path), start=1):
            if path != "model_new.py" and re.search(rf"\b{re.escape(name)}\s*\(", line):
                return f"{path}:{number} names {name}, but no file defines it with these parameters"
    return f"no file defines {name}"


def _call(found: re.Match[str], _diagnostic: Diagnostic, _submission: Submission) -> str | None:
    usage = _USAGE.get(found["name"])
    return None if usage is None else f"it is {usage}"


def _const(found: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
    lines = source_lines(submission, diagnostic.file)
    name = re.search(r"\w+", found["place"])
    if name is None or diagnostic.line is None or not lines:
        return None
    return f"{name[0]} is const; write through a pointer without const"


def _launched(_: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
    """What the kernel that is launched at this line takes."""
    lines = source_lines(submission, diagnostic.file)
    line = lines[diagnostic.line - 1] if diagnostic.line and diagnostic.line <= len(lines) else ""
    launch = re.search(r"\b(\w+)\s*(?:<[^<>]*>)?\s*<<<", line)
    if launch is None:
        return None
    head = re.compile(rf"__global__[^;{{}}]*\b{launch[1]}\s*\((?P<takes>[^{{}};]*)\)\s*[{{;]")
    for path in submission.paths:
        found = head.search(mask(submission.text(path) or ""))
        if found is not None and len(found["takes"]) < 200:
            return f"{launch[1]} takes ({' '.join(found['takes'].split())})"
    return None


_MEMBERS = {"2": "x and y", "3": "x, y and z", "4": "x, y, z and w", "1": "x"}


def _member(found: re.Match[str], _diagnostic: Diagnostic, _submission: Submission) -> str:
    return f"a {found['type']} has {_MEMBERS[found['type'][-1]]}"


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
_VECTOR = r"(?P<type>(?:u?(?:char|short|int|long|longlong)|float|double)[1-4])"
_REMEDIES = tuple(
    _Remedy(re.compile(pattern), hint)
    for pattern, hint in (
        (r"stray '`'", "the file holds the ``` of a Markdown block; write the code alone"),
        (
            r"stray '\\|extended character|stray '\W",
            "only comments and strings may hold characters that are not ASCII",
        ),
        (
            r"invalid preprocessing directive (?!.*did you mean)#\w",
            "a comment in CUDA C++ begins with //",
        ),
        (r"expected [^\n]*';'[^\n]* before", _semicolon),
        (
            r"expected '}'|before '}' token|expected unqualified-id|function-definition is not allowed"
            r"|does not name a type|expected declaration|expected constructor|end of input|linkage specification",
            _braces,
        ),
        (
            r"storage size of '\w+' isn't constant|array bound is not an integer constant",
            "the size of an array is a constant; for one of the launch write `extern __shared__ "
            "float name[];` and give its bytes as the third value in <<<grid, block, bytes>>>",
        ),
        (
            rf"no match for 'operator[^']+'[^\n]*'(?:const )?(?:struct )?{_VECTOR}",
            r"\g<type> has no operators in CUDA; compute each member by itself",
        ),
        (rf"'(?:const )?(?:struct )?{_VECTOR}[&']*(?: \{{aka[^}}]*\}})? has no member", _member),
        (
            r"'(?:const )?dim3' has no member",
            "threadIdx, blockIdx, blockDim and gridDim have x, y and z",
        ),
        (
            r"'(?:const )?(?:struct )?(?:__half|__nv_bfloat16)' has no member",
            "convert it: __half2float(h), __float2half(f)",
        ),
        (
            r"'void\s?\([^\n]*\)' and [^\n]* to binary 'operator<<'",
            "a launch has three angle brackets: kernel<<<grid, block>>>(...)",
        ),
        (r"read-only location '(?P<place>[^']*)'", _const),
        (r"invalid conversion from|cannot convert", _launched),
        (
            r"invalid conversion from 'const (?P<to>[^']+)' to '(?P=to)'",
            "what is const is passed where it would be written: look at the order of the arguments",
        ),
        (
            r"(?s)call to '(?P<name>\w+)\(.*couldn't deduce template parameter '(?P<what>\w+)'",
            r"name \g<what> in the call: \g<name><...>(...)",
        ),
        (
            r"is not a constant expression|not usable in a constant expression",
            "it has to be known when compiling: pass it as an argument, or switch between a few instances",
        ),
        (
            r"ISO C\+\+ forbids declaration of '(?P<name>(?!parameter')\w+)' with no type",
            r"write the type in front of \g<name>, such as void or float",
        ),
        (
            r"template with C linkage",
            'an extern "C" function is no template; let a plain one call the template',
        ),
        (r"(?P<file>[\w./-]+\.(?:cuh?|hp?p?)): No such file", _header),
        (r"undefined reference to [`'](?P<name>[\w:~]+)", _undefined),
        (r"(?:call to|call of overloaded) '(?P<name>\w+)(?:::dim3)?\(", _call),
        (r"", explain_unknown),
    )
)
