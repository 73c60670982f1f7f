"""Cuts a planned kernel into phases: loops over the threads of a block between its barriers.

Only insertions, and replacements within a line: every line stays a line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_on_cpu.phases import ME, SELF, Phase, PhaseTexts
from cuda_gym.judge.toolchains.cuda_on_cpu.plan import Call, Node, Variable
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
from cuda_gym.judge.toolchains.cuda_source import Source

__all__ = ["Change", "Writer"]

_LOOPS = (Form.FOR, Form.WHILE, Form.DO)


@dataclass(frozen=True, kw_only=True)
class Change:
    """Text that takes the place of a range; of nothing where the range is empty."""

    start: int
    end: int
    text: str


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
        self._phases = PhaseTexts(uniformity, parameters, index_readers)
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
        self._insert(self._body, self._phases.prologue)
        self._write_all(nodes, ())
        self._phases.check(has_calls=self._num_calls > 0)
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
        phase.take(node.statement.tokens, node)
        phase.declares += node.declares
        phase.scope = node.scope
        self._declare(node)
        self._write_exits(node.statement, phase, inside_loop=False)
        return phase

    def _opened(self, node: Node, masks: tuple[str, ...]) -> Phase:
        if self._open is None:
            phase = Phase(scope=node.scope, masks=masks)
            self._phases.phases.append(phase)
            self._open = phase
            self._insert(self._point, lambda: self._phases.opening(phase))
        return self._open

    def _close(self) -> None:
        phase = self._open
        if phase is not None:
            self._insert(self._point, lambda: self._phases.closing(phase))
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
                inner = (*masks, f"!{mask}{ME}" if number else f"{mask}{ME}")
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
        phase.take(statement.head, node)
        phase.scope = node.scope
        self._insert(self._point, f" {mask}{ME} = bool({text_of(statement.head)});")
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
        own = frozenset(variable.name for variable in node.declares)
        places = []
        for call in node.calls:
            self._count += 1
            self._num_calls += 1
            place = f"cuda_on_cpu_brought_{self._count}"
            places.append(place)
            before.around.append(f"CUDA_ON_CPU_BROUGHT({place})")
            before.take(call.arguments[0], node, hidden=own)
            bring = "bring" if "shfl" in call.function else "bring_vote"
            value = text_of(call.arguments[0])
            self._insert(self._point, f" ::cuda_on_cpu::{bring}({place}, {SELF}, ({value}));")
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
        kept = [v for name, v in node.scope.items() if name in names and self._phases.is_kept(v)]
        is_light = len(kept) <= 4 and not any(v.declared and v.declared.dimensions for v in kept)
        return stride if is_light else None

    def _write_stride(self, node: Node, stride: Stride, masks: tuple[str, ...]) -> None:
        self._close()
        statement = node.statement
        self._count += 1
        self.num_strides += 1
        offset = f"cuda_on_cpu_offset_{self._count}"
        phase = Phase(scope=node.scope, masks=masks)
        self._phases.phases.append(phase)
        phase.take(statement.tokens, node)
        counter = (
            f"{stride.type} {stride.variable} = {stride.start}; {stride.variable} += {offset};"
        )
        head = {node.scope[t.text] for t in stride.head if t.text in node.scope}

        def loop() -> str:
            derived = self._phases.derived_declarations(phase, head)
            return (
                f" for ({stride.type} {offset} = 0; ({{ {derived} {counter} {stride.condition}; }}); "
                f"{offset} += ({stride.step})) {{{self._phases.opening(phase)} {counter} "
                f"if (!({stride.condition})) continue; "
            )

        self._replace(statement.start, stride.body.start, loop)
        self._insert(stride.body.end, lambda: f"{self._phases.closing(phase)} }}")

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
        return (
            f"{{ cuda_on_cpu_exited{ME} = 1; continue; }}"
            if self._phases.keeps_exits
            else "continue;"
        )

    def _declare(self, node: Node) -> None:
        """Where a kept variable must stay in one place, its declaration becomes a reference to it."""
        statement = node.statement
        if any(self._phases.stays_in_place(v) for v in node.declares):
            if node.calls:
                raise NotUnderstood("a variable that gets its value from a warp operation")
            whole = self._source.text[statement.start : statement.end]

            def declaration() -> str:
                if not any(
                    self._phases.stays_in_place(v) and self._phases.crosses(v)
                    for v in node.declares
                ):
                    return whole
                return " ".join(map(self._phases.declaration, node.declares))

            self._replace(statement.start, statement.end, declaration)
            return
        for variable in node.declares:
            if variable.declared is not None and variable.declared.initial is None:
                self._declare_with_poison(variable, variable.declared.end)

    def _declare_with_poison(self, variable: Variable, end: int) -> None:
        self._insert(end, lambda: self._phases.poison(variable))


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
    return f"::cuda_on_cpu::{name}({place}, {SELF}, cuda_on_cpu_count{rest})"


def _plain(tokens: Sequence[Token]) -> str:
    return f"({text_of(tokens)})"
