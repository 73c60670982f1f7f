"""System calls that a submission on the host has no need of, and that reach past its other walls.

    timers       go off while their process is frozen: the kernel takes some microseconds for each from whoever runs,
                 and a process may have tens of thousands (seen: torch.compile 2 to 5 times slower, steadily)
    queued I/O   is done by the kernel while whoever asked for it is frozen
    counters     of performance interrupt whoever runs, where the machine lets everybody have them
    memory       that is no part of an address space, which is all that is limited: 256 MB each memfd
    sockets      that are files reach a container service through any namespace; their buffers are memory as well

Covered: those by which a process can have as many as it wants. Not covered: the one interval timer that each
process has; a GPU's process, whose driver may need any of these.
"""

from __future__ import annotations

__all__ = ["needless_calls"]

_NUMBERS = {
    "x86_64": {
        "timer_create": 222,
        "timerfd_create": 283,
        "io_setup": 206,
        "perf_event_open": 298,
        "memfd_create": 319,
        "shmget": 29,
        "msgget": 68,
        "socket": 41,
        "socketpair": 53,
    },
    "aarch64": {
        "timer_create": 107,
        "timerfd_create": 85,
        "io_setup": 0,
        "perf_event_open": 241,
        "memfd_create": 279,
        "shmget": 194,
        "msgget": 186,
        "socket": 198,
        "socketpair": 199,
    },
}


def needless_calls(machine: str) -> tuple[int, ...]:
    """Their numbers; none where those are not known.

    >>> 41 in needless_calls("x86_64"), needless_calls("vax")
    (True, ())
    """
    return tuple(_NUMBERS.get(machine, {}).values())
