"""Writes a planned kernel as phases: loops over the threads of a block between its barriers.

Only insertions, and replacements within a line: every line stays a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cuda_gym.judge.toolchains.cuda_on_cpu.plan import Call, Node, Variable
from cuda_gym.judge.toolchains.cuda_on_cpu.source import Source
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import (
    Form,
    NotUnderstood,
    Statement,
    Token,
    tokens_of,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.strides import Stride, stride_of
from cuda_gym.judge.toolchains.cuda_on_cpu.uniformity import Uniformity
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import text_of
from cuda_gym.judge.toolchains.cuda_on_cpu.warps import check_whole_warps

__all__ = ["Change", "Writer"]

_LOOPS = (Form.FOR, Form.WHILE, Form.DO)
_MOST_KEPT = 64
_MOST_KEPT_ARRAYS = 4
_SELF = "cuda_on_cpu_self"
_ME = f"[{_SELF}]"


@dataclass(frozen=True, kw_only=True)
class Change:
    """Text that takes the place of a range; of nothing where the range is empty."""

    start: int
    end: int
    text: str


@dataclass(eq=False, kw_only=True)
class Phase:
    """What each thread does between two points where the block passes."""

    number: int
    scope: Mapping[str, Variable]
    masks: tuple[str, ...]
    """Conditions under which a thread takes part, each as C++."""
    around: list[str] = field(default_factory=list)
    """Arrays that begin to live here."""
    declares: list[Variable] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    stride: Stride | None = None
    has_exits: bool = False

    def uses(self) -> Iterator[Variable]:
        """Variables that its text may mean."""
        yield from (v for name, v in self.scope.items() if name in self.names)
        yield from self.declares


class Writer:
    """Collects the changes of one kernel."""

    def __init__(
        self,
        source: Source,
        body: int,
        uniformity: Uniformity,
        parameters: Sequence[Variable],
        index_readers: frozenset[str],
    ) -> None:
        self._source = source
        self._body = body
        self._uniformity = uniformity
        self._parameters = parameters
        self._readers = index_readers
        self._phases: list[Phase] = []
        self._open: Phase | None = None
        self._point = body
        self._texts: list[tuple[int, int, Callable[[], str]]] = []
        self._count = 0
        self._num_calls = 0
        self.num_strides = 0

    def write(self, nodes: Sequence[Node]) -> list[Change]:
        """The changes that cut the kernel into phases, in their order.

        Raises:
            NotUnderstood: for what cannot be cut.
        """
        self._insert(self._body, self._prologue)
        self._write_all(nodes, ())
        self._check()
        return [Change(start=a, end=b, text=text()) for a, b, text in self._texts]

    def _insert(self, offset: int, text: Callable[[], str] | str) -> None:
        self._replace(offset, offset, text)

    def _replace(self, start: int, end: int, text: Callable[[], str] | str) -> None:
        self._texts.append((start, end, text if callable(text) else lambda: text))

    def _write_all(self, nodes: Sequence[Node], masks: tuple[str, ...]) -> None:
        for node in nodes:
            if node.is_barrier:
                self._close()
                self._replace(node.statement.start, node.statement.end, ";")
            elif node.is_split:
                self._write_split(node, masks)
            elif self._uniformity.runs_once(node):
                self._check_jump(node)
                self._close()
            elif node.calls:
                self._write_meeting(node, masks)
            elif stride := self._stride(node):
                self._write_stride(node, stride, masks)
            else:
                self._add(node, masks)
            self._point = node.statement.end
        self._close()

    def _add(self, node: Node, masks: tuple[str, ...]) -> Phase:
        phase = self._opened(node, masks)
        phase.names |= {token.text for token in node.statement.tokens}
        phase.declares += node.declares
        phase.scope = node.scope
        self._declare(node)
        self._write_exits(node.statement, phase, inside_loop=False)
        return phase

    def _opened(self, node: Node, masks: tuple[str, ...]) -> Phase:
        if self._open is None:
            phase = Phase(number=len(self._phases), scope=node.scope, masks=masks)
            self._phases.append(phase)
            self._open = phase
            self._insert(self._point, lambda: self._opening(phase))
        return self._open

    def _close(self) -> None:
        phase = self._open
        if phase is not None:
            self._insert(self._point, lambda: self._closing(phase))
            self._open = None

    def _write_split(self, node: Node, masks: tuple[str, ...]) -> None:
        statement = node.statement
        is_masked = self._uniformity.is_masked(node)
        if is_masked:
            mask = self._write_mask(node, masks)
        else:
            self._close()
            if self._uniformity.differs_at(node):
                raise NotUnderstood("a loop whose rounds may differ between threads")
        for number, (part, nodes) in enumerate(
            zip(self._bodies(statement), node.parts, strict=True)
        ):
            inner = masks
            if is_masked:
                inner = (*masks, f"!{mask}{_ME}" if number else f"{mask}{_ME}")
            is_block = part.form is Form.BLOCK
            self._point = part.start + 1 if is_block else part.start
            if not is_block:
                self._insert(part.start, " {")
            self._write_all(nodes, inner)
            if not is_block:
                self._insert(part.end, " }")

    def _bodies(self, statement: Statement) -> Sequence[Statement]:
        return [statement] if statement.form is Form.BLOCK else statement.parts

    def _write_mask(self, node: Node, masks: tuple[str, ...]) -> str:
        """The condition of an `if` is kept for each thread; its branches run in phases of their own."""
        statement = node.statement
        check_whole_warps(node, self._uniformity)
        self._count += 1
        mask = f"cuda_on_cpu_mask_{self._count}"
        phase = self._opened(node, masks)
        phase.around.append(f"int {mask}[::cuda_on_cpu::max_threads] = {{}};")
        phase.names |= {token.text for token in statement.head}
        phase.scope = node.scope
        self._insert(self._point, f" {mask}{_ME} = bool({text_of(statement.head)});")
        self._close()
        check = f" if (!::cuda_on_cpu::has_whole_warps({mask}, cuda_on_cpu_count)) return;"
        self._replace(statement.start, statement.parts[0].start, check)
        if len(statement.parts) > 1:
            between = tokens_of(self._source.code, statement.parts[0].end, statement.parts[1].start)
            self._replace(between[0].start, between[0].end, "")
        self._num_calls += 1
        return mask

    def _write_meeting(self, node: Node, masks: tuple[str, ...]) -> None:
        before = self._opened(node, masks)
        outer = {v.name for v in node.declares}
        before.scope = {**before.scope, **{k: v for k, v in node.scope.items() if k not in outer}}
        places = []
        for call in node.calls:
            self._count += 1
            self._num_calls += 1
            place = f"cuda_on_cpu_brought_{self._count}"
            places.append(place)
            before.around.append(f"CUDA_ON_CPU_BROUGHT({place})")
            before.names |= {token.text for token in call.arguments[0]}
            bring = "bring" if "shfl" in call.function else "bring_vote"
            value = text_of(call.arguments[0])
            self._insert(self._point, f" ::cuda_on_cpu::{bring}({place}, {_SELF}, ({value}));")
        self._close()
        for call, place in zip(node.calls, places, strict=True):
            if call.function.startswith("__syncthreads"):
                sum_ = (
                    f"const int {place}_sum = ::cuda_on_cpu::phase_sum({place}, cuda_on_cpu_count);"
                )
                self._insert(self._point, f" {sum_}")
            self._replace(call.start, call.end, _result(call, place))
        self._add(node, masks)

    def _stride(self, node: Node) -> Stride | None:
        stride = stride_of(node, self._uniformity)
        if stride is None:
            return None
        names = {token.text for token in stride.body.tokens}
        kept = [v for name, v in node.scope.items() if name in names and self._is_kept(v)]
        is_light = len(kept) <= 4 and not any(v.declared and v.declared.dimensions for v in kept)
        return stride if is_light else None

    def _is_kept(self, variable: Variable) -> bool:
        if variable.declared is not None and variable.declared.is_shared:
            return False
        return not self._uniformity.is_uniform(variable) and not self._uniformity.is_derived(
            variable
        )

    def _write_stride(self, node: Node, stride: Stride, masks: tuple[str, ...]) -> None:
        self._close()
        statement = node.statement
        self._count += 1
        self.num_strides += 1
        offset = f"cuda_on_cpu_offset_{self._count}"
        phase = Phase(number=len(self._phases), scope=node.scope, masks=masks, stride=stride)
        self._phases.append(phase)
        phase.names |= {token.text for token in statement.tokens}
        counter = (
            f"{stride.type} {stride.variable} = {stride.start}; {stride.variable} += {offset};"
        )
        head = {token.text for token in stride.head}

        def loop() -> str:
            derived = self._derived_declarations(phase, head)
            return (
                f" for ({stride.type} {offset} = 0; ({{ {derived} {counter} {stride.condition}; }}); "
                f"{offset} += ({stride.step})) {{{self._opening(phase)} {counter} "
                f"if (!({stride.condition})) continue; "
            )

        self._replace(statement.start, stride.body.start, loop)
        self._insert(stride.body.end, lambda: f"{self._closing(phase)} }}")

    def _check_jump(self, node: Node) -> None:
        """A break that only some threads come to must not end the loop of all."""
        if node.statement.form not in (Form.BREAK, Form.CONTINUE):
            return
        for outer in reversed(node.enclosing):
            if outer.statement.form in _LOOPS:
                return
            if self._uniformity.is_masked(outer):
                break
        raise NotUnderstood("a jump that only some threads may take")

    def _write_exits(self, statement: Statement, phase: Phase, *, inside_loop: bool) -> None:
        if statement.form is Form.RETURN:
            if inside_loop or len(statement.tokens) != 2:
                raise NotUnderstood("a return inside of a loop")
            phase.has_exits = True
            self._replace(statement.start, statement.end, self._exit)
        elif statement.form is Form.SWITCH and any(t.text == "return" for t in statement.tokens):
            raise NotUnderstood("a return inside of a switch")
        for part in statement.parts:
            inside = inside_loop or statement.form in _LOOPS
            self._write_exits(part, phase, inside_loop=inside)

    def _exit(self) -> str:
        return f"{{ cuda_on_cpu_exited{_ME} = 1; continue; }}" if self._keeps_exits else "continue;"

    @property
    def _keeps_exits(self) -> bool:
        return len(self._phases) > 1 and any(phase.has_exits for phase in self._phases)

    def _declare(self, node: Node) -> None:
        """Where a kept variable must stay in one place, its declaration becomes a reference to it."""
        statement = node.statement
        if any(self._stays_in_place(v) for v in node.declares):
            if node.calls:
                raise NotUnderstood("a variable that gets its value from a warp operation")
            whole = self._source.text[statement.start : statement.end]

            def declaration() -> str:
                if not any(self._stays_in_place(v) and self._crosses(v) for v in node.declares):
                    return whole
                return " ".join(map(self._declaration, node.declares))

            self._replace(statement.start, statement.end, declaration)
            return
        for variable in node.declares:
            if variable.declared is not None and variable.declared.initial is None:
                self._declare_with_zero(variable, variable.declared.end)

    def _declare_with_zero(self, variable: Variable, end: int) -> None:
        self._insert(end, lambda: "{}" if self._crosses(variable) else "")

    def _declaration(self, variable: Variable) -> str:
        """One variable of a declaration as a statement of its own."""
        declared = variable.declared
        assert declared is not None
        if declared.is_reference or "[]" in declared.dimensions:
            raise NotUnderstood("an array of unknown size")
        value = None if declared.initial is None else text_of(declared.initial)
        given = "{}" if value is None else f"{{{value}}}" if declared.is_braced else f" = {value}"
        if not self._stays_in_place(variable) or not self._crosses(variable):
            given = "" if value is None and not self._crosses(variable) else given
            return f"{declared.type} {declared.name}{declared.dimensions}{given};"
        if value is None:
            return self._load(variable)
        return (
            f"{self._load(variable)} {{ {declared.type} cuda_on_cpu_fresh{declared.dimensions}{given}; "
            f"__builtin_memcpy(&{declared.name}, &cuda_on_cpu_fresh, sizeof {declared.name}); }}"
        )

    def _crosses(self, variable: Variable) -> bool:
        """Whether a variable is needed in another phase than the one that declares it."""
        if not self._is_kept(variable):
            return False
        users = [phase for phase in self._phases if variable in phase.uses()]
        if variable.declared is None:
            return bool(users)
        points_in = self._uniformity.is_addressed(variable) or variable.declared.dimensions
        return len(users) > 1 or (bool(points_in) and len(self._phases) > 1)

    def _array(self, variable: Variable) -> str:
        return f"cuda_on_cpu_kept_{variable.number}_{variable.name}"

    def _load(self, variable: Variable) -> str:
        declared = variable.declared
        if declared is None:
            return f"auto {variable.name} = {self._array(variable)}{_ME};"
        if declared.dimensions:
            return f"{declared.type} (&{declared.name}){declared.dimensions} = {self._array(variable)}{_ME};"
        if self._uniformity.is_addressed(variable):
            return f"{declared.type}& {declared.name} = {self._array(variable)}{_ME};"
        return f"{declared.type} {declared.name} = {self._array(variable)}{_ME};"

    def _derived_declarations(self, phase: Phase, names: set[str]) -> str:
        """Derived variables that a text needs, in the order in which they depend on each other."""
        needed: dict[Variable, None] = {}

        def need(variable: Variable) -> None:
            declared, node = variable.declared, variable.node
            if variable in needed or variable in phase.declares or declared is None or node is None:
                return
            if self._uniformity.is_uniform(variable) or not self._uniformity.is_derived(variable):
                return
            for token in declared.initial or ():
                if token.text in node.scope:
                    need(node.scope[token.text])
            needed[variable] = None

        for name in sorted(names & phase.scope.keys()):
            need(phase.scope[name])
        visible = [v for v in needed if v.declared is not None and v.declared.initial is not None]
        if any(phase.scope.get(v.name, v) is not v for v in visible):
            raise NotUnderstood("a name that hides another one")
        return " ".join(
            f"{v.declared.type} {v.name} = {text_of(v.declared.initial)}; (void){v.name};"
            for v in visible
            if v.declared is not None and v.declared.initial is not None
        )

    def _opening(self, phase: Phase) -> str:
        keeps = [
            f"CUDA_ON_CPU_KEEP({self._array(v)}, {v.declared.dimensions}, {v.declared.type})"
            for v in phase.declares
            if v.declared is not None and self._crosses(v)
        ]
        first = "CUDA_ON_CPU_SELF_FOR_OTHERS" if phase.names & self._readers else "CUDA_ON_CPU_SELF"
        skip = [f"cuda_on_cpu_exited{_ME}"] if self._keeps_exits else []
        skip += [mask[1:] if mask.startswith("!") else f"!{mask}" for mask in phase.masks]
        skips = [f"if ({condition}) continue;" for condition in skip]
        derived = self._derived_declarations(phase, phase.names)
        loads = [
            f"{self._load(v)} (void){v.name};"
            for v in self._carried(phase)
            if v not in phase.declares
        ]
        parts = (*phase.around, *keeps, "CUDA_ON_CPU_PHASE {", first, *skips, derived, *loads)
        return " " + " ".join(part for part in parts if part) + " "

    def _carried(self, phase: Phase) -> list[Variable]:
        found = dict.fromkeys(v for v in phase.uses() if self._crosses(v))
        return sorted(found, key=lambda variable: variable.number)

    def _closing(self, phase: Phase) -> str:
        stores = [
            f"{self._array(v)}{_ME} = {v.name};"
            for v in self._carried(phase)
            if not self._stays_in_place(v) and not (v not in phase.declares and _is_constant(v))
        ]
        end = " ".join(("", *stores, "}"))
        if phase.has_exits and self._keeps_exits:
            end += " if (::cuda_on_cpu::all_exited(cuda_on_cpu_exited, cuda_on_cpu_count)) return;"
        return end

    def _stays_in_place(self, variable: Variable) -> bool:
        is_array = variable.declared is not None and bool(variable.declared.dimensions)
        return is_array or (
            variable.declared is not None and self._uniformity.is_addressed(variable)
        )

    def _prologue(self) -> str:
        parts = [" CUDA_ON_CPU_PHASES"]
        if self._keeps_exits:
            parts.append("int cuda_on_cpu_exited[::cuda_on_cpu::max_threads] = {};")
        for variable in self._parameters:
            if self._crosses(variable):
                array, name = self._array(variable), variable.name
                parts.append(f"CUDA_ON_CPU_KEEP({array}, , std::remove_cv_t<decltype({name})>)")
                parts.append(f"CUDA_ON_CPU_PHASE {{ CUDA_ON_CPU_SELF {array}{_ME} = {name}; }}")
        return " ".join(parts) + " "

    def _check(self) -> None:
        """What can be told only after the last phase is known."""
        kept = [v for v in {u for phase in self._phases for u in phase.uses()} if self._crosses(v)]
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
        if self._num_calls and self._keeps_exits:
            raise NotUnderstood("warp operations after some threads have returned")


def _is_constant(variable: Variable) -> bool:
    return variable.declared is not None and variable.declared.is_constant


def _result(call: Call, place: str) -> str:
    """What a call becomes once every thread has brought its value."""
    if call.function.startswith("__syncthreads"):
        return {
            "__syncthreads_count": f"({place}_sum)",
            "__syncthreads_and": f"({place}_sum == (int)cuda_on_cpu_count)",
            "__syncthreads_or": f"({place}_sum != 0)",
        }[call.function]
    name = "phase" + call.function.removeprefix("_")
    rest = "".join(f", {_plain(argument)}" for argument in call.arguments[1:])
    if "shfl" in call.function:
        name += f"<decltype(::cuda_on_cpu::by_value({_plain(call.arguments[0])}))>"
    return f"::cuda_on_cpu::{name}({place}, {_SELF}, cuda_on_cpu_count{rest})"


def _plain(tokens: Sequence[Token]) -> str:
    return f"({text_of(tokens)})"
