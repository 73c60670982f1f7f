"""Names that a launcher cannot have, since CUDA's headers declare functions of these names.

An `extern "C"` function has no overloads, so nvcc refuses `extern "C" void norm(...)`; a compiler for the
host refuses some of them and lets others pass. Either way the remedy is another name.

Covered: mathematical functions and what else an agent might call a kernel, each tried with nvcc 13.0. Not
covered: variants for other types (`normf`), and most of the C library; what nvcc says of any name has the
remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cuda_gym.core.findings import Diagnostic, Severity

if TYPE_CHECKING:
    from cuda_gym.judge.toolchains.launchers import Launcher

__all__ = ["explain_taken_name", "taken_name_warnings"]

_NAMES = """
abort abs acos acosh asin asinh atan atan2 atanh calloc cbrt ceil clock clock64 copysign cos cosh cospi
cyl_bessel_i0 cyl_bessel_i1 div erf erfc erfcinv erfcx erfinv exit exp exp10 exp2 expm1 fabs fadd fdim
fdiv fdivide ffma ffs finite floor fma fmax fmin fmod fmul free frexp fsqrt fsub gamma hypot ilogb j0 j1
jn ldexp lgamma llabs llmax llmin log log10 log1p log2 logb malloc max memcpy memset min modf nan
nearbyint norm norm3d norm4d normcdf normcdfinv pow rand random rcbrt realloc remainder remquo rhypot
rint rnorm rnorm3d rnorm4d round roundeven rsqrt select significand sin sincos sincospi sinh sinpi sqrt
system tan tanh tgamma time trunc ullmax ullmin umax umin
"""
_TAKEN = frozenset(_NAMES.split())
_REFUSED = re.compile(
    r'more than one instance of overloaded function "(?P<nvcc>\w+)" has "C" linkage'
    r"|conflicting declaration of C function '[^'(]*?(?P<gcc>\w+)\("
    r"|conflicting types for '(?P<clang>\w+)'"
)


def explain_taken_name(message: str) -> str:
    """What a compiler says, with the remedy where it is about such a name.

    >>> print(explain_taken_name("conflicting types for 'pow'"))
    conflicting types for 'pow'; pow is a function of CUDA's: give the launcher another name, such as pow_launcher
    """
    found = _REFUSED.search(message)
    if found is None:
        return message
    name = found["nvcc"] or found["gcc"] or found["clang"]
    if name in _TAKEN:
        return f"{message}; {_remedy(name)}"
    taken = f"{name} is declared elsewhere, too, in a header of CUDA or in these files"
    return f"{message}; {taken}: give one of the two another name" if found["nvcc"] else message


def taken_name_warnings(launchers: Iterable[Launcher]) -> Iterator[Diagnostic]:
    """One for each launcher that was compiled, and that nvcc would refuse for its name."""
    for launcher in launchers:
        if launcher.name in _TAKEN:
            yield Diagnostic(
                severity=Severity.WARNING,
                message=f"a GPU's compiler refuses the name of {launcher.what}: "
                f"{_remedy(launcher.name)}",
                file=launcher.file,
                line=launcher.line,
            )


def _remedy(name: str) -> str:
    return (
        f"{name} is a function of CUDA's: give the launcher another name, such as {name}_launcher"
    )
