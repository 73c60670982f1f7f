"""A tree as CUDA C++."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.judge.toolchains.cuda_on_cpu.generated.trees import (
    FLOAT,
    INPUT_SIZE,
    NUM_SUMS,
    OPERATIONS,
    SHARED,
    Add,
    Apply,
    Assign,
    Atomic,
    Barrier,
    Constant,
    Expression,
    If,
    Input,
    Kernel,
    Load,
    Loop,
    Name,
    Statement,
    Store,
    VotingBarrier,
    WarpExchange,
    WarpOperation,
)

NUM_BLOCKS = 3
_KINDS = {"add": ("atomicAdd", 0), "max": ("atomicMax", 1), "xor": ("atomicXor", 2)}
_WARP_OPERATIONS = {
    "leader": "__shfl_sync({mask}, {value}, __ffs((int){mask}) - 1)",
    "indexed": "__shfl_sync({mask}, {value}, (lane + {source}u) % lanes)",
    "across": "__shfl_xor_sync({mask}, {value}, {source})",
    "up": "__shfl_up_sync({mask}, {value}, {source})",
    "down": "__shfl_down_sync({mask}, {value}, {source}, 16)",
    "ballot": "__ballot_sync({mask}, {value} & 1u)",
    "any": "(unsigned)(__any_sync({mask}, {value} % 8u == 3u) != 0)",
    "all": "(unsigned)(__all_sync({mask}, {value} % 8u != 3u) != 0)",
    "match": "__match_any_sync({mask}, {value} % 4u)",
    "sum": "__reduce_add_sync({mask}, {value})",
    "smallest": "(unsigned)__reduce_min_sync({mask}, (int)({value}))",
    "either": "__reduce_or_sync({mask}, {value})",
}


def printed(kernels: Sequence[Kernel]) -> str:
    """One file: each kernel, and its launcher `run_NUMBER`."""
    return "\n".join(_kernel(kernel, number) for number, kernel in enumerate(kernels))


def printed_kernel(kernel: Kernel) -> str:
    return _kernel(kernel, 0)


def _kernel(kernel: Kernel, number: int) -> str:
    parameters = "const unsigned* x, const float* y, unsigned* out, float* floats, unsigned* sums"
    size = kernel.block_size
    shared = "\n  ".join(f"__shared__ {type_} {name}[{size}];" for name, type_ in SHARED.items())
    start = " ".join(f"{name}[tid] = 0;" for name in SHARED)
    body = "\n".join(_lines(kernel.body, "  ", "everyone"))
    return f"""
__global__ void kernel_{number}({parameters}) {{
  const unsigned tid = threadIdx.x, block = blockIdx.x, lane = tid % 32u, size = blockDim.x;
  const unsigned lanes = min(size - (tid - lane), 32u), everyone = 0xffffffffu >> (32u - lanes);
  {shared}
  {start}
  unsigned a = tid, b = block, c = 1;
  float p = 0.5f, q = -1.0f;
  __syncthreads();
{body}
  const unsigned place = block * size + tid;
  out[3 * place] = a, out[3 * place + 1] = b, out[3 * place + 2] = c;
  floats[2 * place] = p, floats[2 * place + 1] = q;
  (void)x, (void)y, (void)sums, (void)everyone;
}}
extern "C" void run_{number}({parameters}) {{
  kernel_{number}<<<{NUM_BLOCKS}, {size}>>>(x, y, out, floats, sums);
}}
"""


def _lines(body: Sequence[Statement], indent: str, mask: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case If(with_mask=True):
                yield from _masked_branch(statement, indent, mask)
            case If(condition, then, otherwise):
                yield f"{indent}if ({_text(condition)} & 1u) {{"
                yield from _lines(then, indent + "  ", mask)
                if otherwise:
                    yield f"{indent}}} else {{"
                    yield from _lines(otherwise, indent + "  ", mask)
                yield f"{indent}}}"
            case Loop(variable, count, body_):
                end = f"1u + {_text(count)} % 4u"
                head = f"unsigned {variable} = 0, end_{variable} = {end}"
                yield f"{indent}for ({head}; {variable} < end_{variable}; ++{variable}) {{"
                yield from _lines(body_, indent + "  ", mask)
                yield f"{indent}}}"
            case WarpOperation(name, kind, value, source):
                operation = _WARP_OPERATIONS[kind]
                text = operation.format(mask=mask, value=_text(value), source=source)
                yield f"{indent}{name} = {text};"
            case _:
                yield indent + _simple(statement)


def _masked_branch(branch: If, indent: str, mask: str) -> Iterator[str]:
    taken, name = f"{mask}_1", f"{mask}_0"
    yield f"{indent}{{"
    yield f"{indent}  const unsigned taken = {_text(branch.condition)} & 1u;"
    yield f"{indent}  const unsigned {taken} = __ballot_sync({mask}, taken);"
    yield f"{indent}  const unsigned {name} = {mask} & ~{taken};"
    yield f"{indent}  if (taken) {{"
    yield from _lines(branch.then, indent + "    ", taken)
    yield f"{indent}  }} else {{"
    yield from _lines(branch.otherwise, indent + "    ", name)
    yield f"{indent}  }}"
    yield f"{indent}}}"


def _simple(statement: Statement) -> str:
    match statement:
        case Assign(name, value):
            return f"{name} = {_text(value)};"
        case Atomic(kind, index, value):
            function, row = _KINDS[kind]
            cell = f"{row * NUM_SUMS}u + {_text(index)} % {NUM_SUMS}u"
            return f"{function}(&sums[{cell}], {_text(value)});"
        case Store(array, factor, shift, value, condition):
            place = f"(tid * {factor}u + {shift}u) % size"
            return f"if ({_text(condition)} & 1u) {array}[{place}] = {_text(value)};"
        case Add(array, index, value):
            return f"atomicAdd(&{array}[{_text(index)} % size], {_text(value)});"
        case Load(name, array, index):
            return f"{name} = {array}[{_text(index)} % size];"
        case WarpExchange(name, array, value, index):
            place = f"tid - lane + {_text(index)} % lanes"
            read = f"__syncwarp(everyone); {name} = {array}[{place}]; __syncwarp(everyone);"
            return f"{array}[tid] = {_text(value)}; {read}"
        case Barrier():
            return "__syncthreads();"
        case VotingBarrier(name, kind, condition):
            call = f"__syncthreads_{kind}({_text(condition)} & 1u)"
            return f"{name} = (unsigned){call}{'' if kind == 'count' else ' != 0'};"
    raise TypeError(f"{statement} is not simple")


def _text(expression: Expression) -> str:
    match expression:
        case Constant(value):
            return f"{value}u"
        case Name(name):
            return name
        case Input(type_, index):
            return f"{'y' if type_ == FLOAT else 'x'}[{_text(index)} % {INPUT_SIZE}u]"
        case Apply(operation, arguments):
            return OPERATIONS[operation].text.format(*map(_text, arguments))
