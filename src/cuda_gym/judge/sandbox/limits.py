"""Walls around a candidate: namespaces where the kernel allows them, and limits everywhere.

Covered, strongest first, each tried and reported: own user and pid namespace (nothing it starts
outlives it, it cannot signal or see anybody), own mount namespace (everything read-only but a
private folder), own network and IPC namespaces (no network), no capabilities, `no_new_privs`, a
seccomp filter against new processes, limits on memory, file size and core dumps; a process that holds secrets is made
non-dumpable, so that a sibling under the same uid cannot read its memory through /proc.

Not covered: what a kernel bug gives away, other files that its user may read.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
from pathlib import Path

from cuda_gym.judge.sandbox.needless_calls import needless_calls

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _SECCOMP_MODE_FILTER = 22, 36, 2
_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
_CLONE_NEWPID, _CLONE_NEWNET = 0x20000000, 0x40000000
_MS_REC, _MS_PRIVATE, _MS_RDONLY = 0x4000, 1 << 18, 1
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_SYS_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1
_CAPABILITY_VERSION_3 = 0x20080522

MAX_FILE_BYTES = 256 * 1024 * 1024
PRIVATE_FOLDER_BYTES = 256 * 1024 * 1024


def hide_memory(hidden: bool = True) -> None:
    """Make this process non-dumpable: /proc/PID/mem and ptrace are closed to its siblings."""
    _libc.prctl(_PR_SET_DUMPABLE, int(not hidden), 0, 0, 0)


def die_with_parent() -> None:
    """Be killed as soon as the parent dies."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def enter_namespaces(*, own_pids: bool = True) -> tuple[str, ...]:
    """Own user and pid namespaces for the children of this process; the names of what worked.

    The process must have one thread. Its uid is kept, mapped to itself, without privileges outside.

    Args:
        own_pids: Whether the children get pids of their own. CUDA looks itself up in /proc, so that it needs
            `enclose(fresh_proc=True)` then (error 304 otherwise, measured).
    """
    uid, gid = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWUSER | (_CLONE_NEWPID if own_pids else 0)) != 0:
        return ()
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    return ("user", "pid") if own_pids else ("user",)


def enclose(folder: Path, *, fresh_proc: bool, writable_proc: bool = False) -> tuple[str, ...]:
    """Inside an own user namespace: no network, everything read-only but `folder`.

    Args:
        folder: Becomes empty and private.
        fresh_proc: Whether /proc shows the own pid namespace, where that can be had, and no one else.
        writable_proc: Whether that one can be written to. CUDA does so; by /proc/self/mem a process writes
            to its own code, too.

    Returns:
        The names of what worked.
    """
    entered: tuple[str, ...] = ()
    if _libc.unshare(_CLONE_NEWNET | _CLONE_NEWIPC) == 0:
        entered += ("network", "ipc")
    if _libc.unshare(_CLONE_NEWNS) == 0 and _make_read_only(folder):
        entered += ("mount",)
        if fresh_proc:  # after the rest was made read-only
            _mount_proc(writable=writable_proc)
    return entered


def mount_fresh_proc() -> bool:
    """In a mount namespace of its own, a /proc of this process's pid namespace; whether it worked."""
    if _libc.unshare(_CLONE_NEWNS) != 0:
        return False
    private = _libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) == 0
    return private and _mount_proc()


def drop_privileges() -> None:
    """Give up all capabilities, and the chance of ever getting some."""
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    number = _SYS_CAPSET.get(os.uname().machine)
    if number is not None:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        nothing = (ctypes.c_uint32 * 6)()
        _libc.syscall(number, header, nothing)


def limit_resources(memory_bytes: int) -> None:
    """Bound memory, file size and core dumps.

    Args:
        memory_bytes: address space beyond what the process has now.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _lower(resource.RLIMIT_AS, pages * resource.getpagesize() + memory_bytes)
    _lower(resource.RLIMIT_FSIZE, MAX_FILE_BYTES)
    _lower(resource.RLIMIT_CORE, 0)


def forbid_processes(
    *, and_touching_others: bool = False, and_needless_calls: bool = False
) -> tuple[str, ...]:
    """From now on fork and exec fail with EPERM; threads still start. Files are neither locked nor leased.

    A limit on the number of processes would not bind root, who often runs a container.

    Args:
        and_touching_others: Signals to and looks into other processes fail, too: where no pid namespace hides
            them.
        and_needless_calls: So do those that only a driver may need: see `needless_calls`.

    Returns:
        `("seccomp",)` where the kernel took the filter.
    """
    architecture = _SECCOMP.get(os.uname().machine)
    if architecture is None:
        return ()
    audit, forbidden, clone = architecture
    forbidden += (_IO_URING_SETUP,)
    itself: tuple[int, ...] = ()
    if and_touching_others:
        others, itself = _TOUCHING[os.uname().machine]
        forbidden += others
    if and_needless_calls:
        forbidden += needless_calls(os.uname().machine)
    program = _filter(audit, forbidden, clone, itself, _LOCKING[os.uname().machine])
    code = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint16), ("code", ctypes.c_void_p)]

    wanted = Program(len(program) // 8, ctypes.addressof(code))
    taken = _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0)
    return ("seccomp",) if taken == 0 else ()


def forbid_new_code() -> bool:
    """From now on no memory becomes executable, whatever the thread; whether the kernel took the rule."""
    os.environ["FBGEMM_NO_ASMJIT"] = "1"  # torch's embedding_bag then does without code of its own
    numbers = _MAPPING.get(os.uname().machine)
    if numbers is None:
        return False
    audit, seccomp, guarded, forbidden = numbers
    load, jump_equal, jump_set, give = 0x20, 0x15, 0x45, 0x06
    allow, refuse = (give, 0, 0, 0x7FFF0000), (give, 0, 0, 0x00050000 | _EPERM)
    steps = [(load, 0, 0, 4), (jump_equal, 1, 0, audit), refuse, (load, 0, 0, 0)]
    for number, flag in guarded:  # the flag is in the third argument of each
        steps += [(jump_equal, 0, 4, number), (load, 0, 0, 32), (jump_set, 0, 1, flag)]
        steps += [refuse, allow]
    for number in forbidden:
        steps += [(jump_equal, 0, 1, number), refuse]
    program = b"".join(struct.pack("=HBBI", *step) for step in (*steps, allow))
    code = ctypes.create_string_buffer(program, len(program))
    wanted = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    taken = _libc.syscall(seccomp, _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC, wanted)
    return bool(taken == 0)


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, children before grandchildren."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def _mount_proc(*, writable: bool = True) -> bool:
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | (0 if writable else _MS_RDONLY)
    return bool(_libc.mount(b"proc", b"/proc", b"proc", flags, None) == 0)


def _make_read_only(folder: Path) -> bool:
    """Every mount read-only, but a fresh tmpfs on `folder`; whether all of it worked."""
    if _libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return False

    class MountAttributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]

    wanted = MountAttributes(set=_MOUNT_ATTR_RDONLY)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    done = _libc.syscall(
        _SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, ctypes.byref(wanted), size
    )
    options = f"size={PRIVATE_FOLDER_BYTES},mode=700".encode()
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    return bool(done == 0 and _libc.mount(b"tmpfs", bytes(folder), b"tmpfs", flags, options) == 0)


_SECCOMP = {  # audit number of the architecture, calls that start a program or process, clone
    "x86_64": (0xC000003E, (57, 58, 59, 322), 56),  # fork, vfork, execve, execveat
    "aarch64": (0xC00000B7, (221, 281), 220),  # execve, execveat
}
_TOUCHING = {  # tkill, ptrace, process_vm_readv and writev, pidfd_send_signal and getfd; kill, tgkill
    "x86_64": ((200, 101, 310, 311, 424, 438), (62, 234)),
    "aarch64": ((130, 117, 270, 271, 424, 438), (129, 131)),
}
_PROT_EXEC, _SHM_EXEC = 0x4, 0x8000
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC = 1, 1
_MAPPING = {  # audit number; seccomp; mmap, mprotect, pkey_mprotect, shmat; personality, remap_file_pages
    "x86_64": (
        0xC000003E,
        317,
        ((9, _PROT_EXEC), (10, _PROT_EXEC), (329, _PROT_EXEC), (30, _SHM_EXEC)),
        (135, 216),
    ),
    "aarch64": (
        0xC00000B7,
        277,
        ((222, _PROT_EXEC), (226, _PROT_EXEC), (288, _PROT_EXEC), (196, _SHM_EXEC)),
        (92, 234),
    ),
}
"""A personality can make all that is readable executable."""
_CLONE3, _CLONE_THREAD = 435, 0x00010000
_LOCKING = {"x86_64": (73, 72), "aarch64": (32, 25)}  # flock, fcntl
_IO_URING_SETUP = 425
"""By a ring the kernel is asked for what this filter does not see."""
_F_SETLEASE = 1024
_X32_BIT = 0x40000000
_EPERM, _ENOSYS = 1, 38


def _filter(
    architecture: int,
    forbidden: tuple[int, ...],
    clone: int,
    itself: tuple[int, ...],
    locking: tuple[int, int],
) -> bytes:
    """A classic BPF program; clone3 hides its flags, so it is missing and libc takes clone.

    What is in `itself` works on this process only: `abort` sends a signal, too. A call in another ABI, whose
    numbers mean something else, is refused. A file can be locked or leased by whoever may read it, and
    the judge's own lock and caches are such files: who shares no file with anybody needs neither, so that
    locking does nothing, and leasing fails.
    """
    load, jump_equal, jump_set, give = 0x20, 0x15, 0x45, 0x06  # BPF_LD|W|ABS, JEQ, JSET, RET
    jump_at_least = 0x35
    allow, errno = 0x7FFF0000, 0x00050000
    flock, fcntl = locking
    steps = [
        (load, 0, 0, 4),
        (jump_equal, 1, 0, architecture),
        (give, 0, 0, errno | _EPERM),
        (load, 0, 0, 0),
        (jump_at_least, 0, 1, _X32_BIT),
        (give, 0, 0, errno | _EPERM),
        (jump_equal, 0, 1, flock),
        (give, 0, 0, errno),
        (jump_equal, 0, 4, fcntl),
        (load, 0, 0, 24),
        (jump_equal, 0, 1, _F_SETLEASE),
        (give, 0, 0, errno | _EPERM),
        (give, 0, 0, allow),
    ]
    for number in forbidden:
        steps += [(jump_equal, 0, 1, number), (give, 0, 0, errno | _EPERM)]
    for number in itself:
        steps += [(jump_equal, 0, 4, number), (load, 0, 0, 16), (jump_equal, 1, 0, os.getpid())]
        steps += [(give, 0, 0, errno | _EPERM), (give, 0, 0, allow)]
    steps += [(jump_equal, 0, 1, _CLONE3), (give, 0, 0, errno | _ENOSYS)]
    steps += [(jump_equal, 0, 3, clone), (load, 0, 0, 16), (jump_set, 1, 0, _CLONE_THREAD)]
    steps += [(give, 0, 0, errno | _EPERM), (give, 0, 0, allow)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
