"""The text of phases: how each begins and ends, and what its threads keep for the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cuda_gym.judge.toolchains.cuda_on_cpu.plan import Node, Variable
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import Form, NotUnderstood, Token
from cuda_gym.judge.toolchains.cuda_on_cpu.uniformity import Uniformity
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import text_of

__all__ = ["ME", "SELF", "Phase", "PhaseTexts"]

SELF = "cuda_on_cpu_self"
"""The number of the current thread in its block."""
ME = f"[{SELF}]"
_LOOPS = (Form.FOR, Form.WHILE, Form.DO)
_MOST_KEPT = 64
_MOST_KEPT_ARRAYS = 4


@dataclass(eq=False, kw_only=True)
class Phase:
    """What each thread does between two points where the block passes."""

    scope: Mapping[str, Variable]
    """What names mean where it ends."""
    masks: tuple[str, ...]
    """Conditions under which a thread takes part, each as C++."""
    around: list[str] = field(default_factory=list)
    """Arrays that begin to live here."""
    declares: list[Variable] = field(default_factory=list)
    uses: set[Variable] = field(default_factory=set)
    """Variables that its text may mean, its own among them."""
    words: set[str] = field(default_factory=set)
    has_exits: bool = False

    def take(
        self, tokens: Sequence[Token], node: Node, *, hidden: frozenset[str] = frozenset()
    ) -> None:
        """Note what a text at a node mentions.

        Args:
            tokens: The text.
            node: Where it stands.
            hidden: Names that the node declares and the text cannot mean.
        """
        words = {token.text for token in tokens}
        self.words |= words
        self.uses |= {node.scope[word] for word in words & node.scope.keys() - hidden}


class PhaseTexts:
    """Writes the phases of one kernel once all of them are known."""

    def __init__(
        self,
        uniformity: Uniformity,
        parameters: Sequence[Variable],
        index_readers: frozenset[str],
    ) -> None:
        self.phases: list[Phase] = []
        self._uniformity = uniformity
        self._parameters = parameters
        self._readers = index_readers

    def prologue(self) -> str:
        """The first words of the kernel."""
        parts = [" CUDA_ON_CPU_PHASES"]
        if self.keeps_exits:
            parts.append("int cuda_on_cpu_exited[::cuda_on_cpu::max_threads] = {};")
        for variable in self._parameters:
            if self.crosses(variable):
                array, name = self._array(variable), variable.name
                parts.append(f"CUDA_ON_CPU_KEEP({array}, , std::remove_cv_t<decltype({name})>)")
                parts.append(f"CUDA_ON_CPU_PHASE {{ CUDA_ON_CPU_SELF {array}{ME} = {name}; }}")
        return " ".join(parts) + " "

    def opening(self, phase: Phase) -> str:
        """What stands before the first statement of a phase."""
        keeps = [
            f"CUDA_ON_CPU_KEEP({self._array(v)}, {v.declared.dimensions}, {v.declared.type})"
            for v in phase.declares
            if v.declared is not None and self.crosses(v)
        ]
        first = "CUDA_ON_CPU_SELF_FOR_OTHERS" if phase.words & self._readers else "CUDA_ON_CPU_SELF"
        skip = [f"cuda_on_cpu_exited{ME}"] if self.keeps_exits else []
        skip += [mask[1:] if mask.startswith("!") else f"!{mask}" for mask in phase.masks]
        skips = [f"if ({condition}) continue;" for condition in skip]
        derived = self.derived_declarations(phase, phase.uses)
        loads = [
            f"{self.load(v)} (void){v.name};"
            for v in self._carried(phase)
            if v not in phase.declares
        ]
        parts = (*phase.around, *keeps, "CUDA_ON_CPU_PHASE {", first, *skips, derived, *loads)
        return " " + " ".join(part for part in parts if part) + " "

    def closing(self, phase: Phase) -> str:
        """What stands behind its last statement."""
        stores = [
            f"{self._array(v)}{ME} = {v.name};"
            for v in self._carried(phase)
            if not self.stays_in_place(v) and not (v not in phase.declares and _is_constant(v))
        ]
        end = " ".join(("", *stores, "}"))
        if phase.has_exits and self.keeps_exits:
            end += " if (::cuda_on_cpu::all_exited(cuda_on_cpu_exited, cuda_on_cpu_count)) return;"
        return end

    def derived_declarations(self, phase: Phase, variables: Iterable[Variable]) -> str:
        """Derived variables that a text needs, in the order in which they depend on each other."""
        needed: dict[Variable, None] = {}

        def need(variable: Variable) -> None:
            declared, node = variable.declared, variable.node
            if variable in needed or variable in phase.declares or declared is None or node is None:
                return
            if self._uniformity.is_uniform(variable) or not self._uniformity.is_derived(variable):
                return
            for token in declared.initial or ():
                source = node.scope.get(token.text)
                if source is not None and source is not variable:
                    if phase.scope.get(token.text) is not source:
                        raise NotUnderstood("a name that hides another one")
                    need(source)
            needed[variable] = None

        for variable in sorted(variables, key=lambda variable: variable.number):
            need(variable)
        return " ".join(
            f"{v.declared.type} {v.name} = {text_of(v.declared.initial)}; (void){v.name};"
            for v in needed
            if v.declared is not None and v.declared.initial is not None
        )

    def declaration(self, variable: Variable) -> str:
        """One variable of a declaration as a statement of its own."""
        declared = variable.declared
        assert declared is not None
        if declared.is_reference or "[]" in declared.dimensions:
            raise NotUnderstood("an array of unknown size")
        value = None if declared.initial is None else text_of(declared.initial)
        given = "" if value is None else f"{{{value}}}" if declared.is_braced else f" = {value}"
        if not self.stays_in_place(variable) or not self.crosses(variable):
            given = self.poison(variable) if value is None else given
            return f"{declared.type} {declared.name}{declared.dimensions}{given};"
        if value is None and _is_repeated(variable):
            return self.load(variable)
        if value is None:
            poisoned = f"::cuda_on_cpu::leave_unwritten(&{declared.name}, sizeof {declared.name});"
            return f"{self.load(variable)} {poisoned}"
        return (
            f"{self.load(variable)} {{ {declared.type} cuda_on_cpu_fresh{declared.dimensions}{given}; "
            f"__builtin_memcpy(&{declared.name}, &cuda_on_cpu_fresh, sizeof {declared.name}); }}"
        )

    def poison(self, variable: Variable) -> str:
        """The value of one that was given none; what stays in one phase is left to the compiler.

        The compiler would else take the values that are kept for unwritten ones, and warn of them.
        """
        declared = variable.declared
        if declared is None or not self.crosses(variable):
            return ""
        return f" = ::cuda_on_cpu::unwritten<{declared.type}>()"

    def load(self, variable: Variable) -> str:
        """A kept variable by its own name."""
        declared = variable.declared
        if declared is None:
            return f"auto {variable.name} = {self._array(variable)}{ME};"
        if declared.dimensions:
            return f"{declared.type} (&{declared.name}){declared.dimensions} = {self._array(variable)}{ME};"
        if self._uniformity.is_addressed(variable):
            return f"{declared.type}& {declared.name} = {self._array(variable)}{ME};"
        return f"{declared.type} {declared.name} = {self._array(variable)}{ME};"

    def is_kept(self, variable: Variable) -> bool:
        """Whether each thread has a value of its own that cannot be computed anew."""
        if variable.declared is not None and variable.declared.is_shared:
            return False
        return not self._uniformity.is_uniform(variable) and not self._uniformity.is_derived(
            variable
        )

    def crosses(self, variable: Variable) -> bool:
        """Whether a variable is needed in another phase than the one that declares it."""
        if not self.is_kept(variable):
            return False
        users = [phase for phase in self.phases if variable in phase.uses]
        if variable.declared is None:
            return bool(users)
        points_in = self._uniformity.is_addressed(variable) or variable.declared.dimensions
        return len(users) > 1 or (bool(points_in) and len(self.phases) > 1)

    def stays_in_place(self, variable: Variable) -> bool:
        """Whether its address matters: it is then used where it is kept."""
        is_array = variable.declared is not None and bool(variable.declared.dimensions)
        return is_array or (
            variable.declared is not None and self._uniformity.is_addressed(variable)
        )

    @property
    def keeps_exits(self) -> bool:
        """Whether a thread that has returned must be remembered."""
        return len(self.phases) > 1 and any(phase.has_exits for phase in self.phases)

    def check(self, *, has_calls: bool) -> None:
        """What can be told only after the last phase is known.

        Raises:
            NotUnderstood: the kernel cannot be cut.
        """
        kept = [v for v in {u for phase in self.phases for u in phase.uses} if self.crosses(v)]
        arrays = [v for v in kept if v.declared is not None and v.declared.dimensions]
        if len(kept) > _MOST_KEPT or len(arrays) > _MOST_KEPT_ARRAYS:
            raise NotUnderstood("too many variables that live across a barrier")
        for variable in kept:
            declared = variable.declared
            if declared is None:
                if self._uniformity.is_addressed(variable):
                    raise NotUnderstood("the address of a parameter")
            elif declared.is_reference or declared.words & {"auto", "decltype", "static"}:
                raise NotUnderstood("a variable of unknown type that lives across a barrier")
        if has_calls and self.keeps_exits:
            raise NotUnderstood("warp operations after some threads have returned")

    def _carried(self, phase: Phase) -> list[Variable]:
        found = dict.fromkeys(v for v in phase.uses if self.crosses(v))
        return sorted(found, key=lambda variable: variable.number)

    def _array(self, variable: Variable) -> str:
        return f"cuda_on_cpu_kept_{variable.number}_{variable.name}"


def _is_repeated(variable: Variable) -> bool:
    """Whether it is declared in a loop, where poison in each round would cost too much."""
    node = variable.node
    return node is not None and any(n.statement.form in _LOOPS for n in node.enclosing)


def _is_constant(variable: Variable) -> bool:
    return variable.declared is not None and variable.declared.is_constant
