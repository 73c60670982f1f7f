"""The symbols by which compiled code reaches out of itself: names of C, and what libraries of C++ call them.

Covered: what the judge asks of its own runtime, look-ups by name, machine code that is brought along or made, other processes, sockets, threads. Not
covered: system calls made by hand, and functions that are looked up while it runs.
"""

from __future__ import annotations

import re

__all__ = ["reaching_out"]

_REASONS = (
    (
        re.compile(
            r"cuda_on_cpu_(?:answer_quit|check_blocks|check_memory|findings|install_fault_handler|kernel_time"
            r"|num_launches|poison_shared_memory|set_num_threads|take_error|time_kernels|unwritten_bytes)"
        ),
        "is there for the judge: a submission has as many threads as torch, and is watched",
    ),
    (
        re.compile(r"(?:__libc_)?(?:dlm?open|dlv?sym)(?:_mode)?|_ZN2at14DynamicLibrary\w+"),
        "looks up what the judge did not compile",
    ),
    (
        re.compile(r"system|popen|_?v?[fF]ork|execl[ep]?|execv?p?e?|execvp|posix_spawnp?|clone3?"),
        "starts a process",
    ),
    (
        re.compile(
            r"cudaLibraryLoad\w+|cu(?:Module|Library)Load\w*|cuLink\w+|nvrtc\w+|nvJitLink\w+|nvPTXCompiler\w+"
        ),
        "loads machine code that the judge did not compile",
    ),
    (
        re.compile(r"(?:pkey_)?mprotect|m(?:re)?map(?:64)?|shmat|memfd_create"),
        "makes memory whose code the judge did not compile",
    ),
    (re.compile(r"socket|connect|ptrace|process_vm_\w+|syscall"), "reaches out of its process"),
    (
        re.compile(r"pthread_create|thrd_create|_ZNSt6thread15_M_start_thread\w+"),
        "starts a thread, whose work goes on when forward has returned",
    ),
)


def reaching_out(symbol: str) -> str | None:
    """What a symbol is there for, in words; None where it reaches nowhere.

    >>> reaching_out("dlsym"), reaching_out("expf")
    ('dlsym, which looks up what the judge did not compile', None)
    """
    for pattern, reason in _REASONS:
        if pattern.fullmatch(symbol):
            spoken = "std::thread" if symbol.startswith("_ZNSt6thread") else symbol
            return f"{spoken}, which {reason}"
    return None
