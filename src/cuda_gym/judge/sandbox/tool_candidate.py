"""A candidate in a fresh interpreter, under a tool that starts its program by exec.

Such a process cannot be forked from the zygote, and what such tools do in it (threads, a connection
of their own, files) bears no namespaces.

Covered: no capabilities, `no_new_privs`, no new processes, no signals to and no look into other
processes, limits on files and core dumps; it ends with its channel, and after a time of its own (not
with its parent: a tool may start it from a thread that ends at once). Not covered: the network, and files that its user may read or write: what runs here has passed
the static checks, and nothing that it says is paid.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import tempfile

from cuda_gym.judge.sandbox import limits
from cuda_gym.judge.sandbox.channel import Channel

__all__ = ["SOCKET_NAME", "main"]

SOCKET_NAME = "channel"
"""Where the judge listens, in the folder that is this process's argument."""


def main() -> None:
    """Entry point: `python -m cuda_gym.judge.sandbox.tool_candidate FOLDER SECONDS RIGHTS`."""
    folder, seconds, rights = sys.argv[1:]
    os.chdir(folder)
    tempfile.tempdir = folder
    # Whoever started us may be gone while a kernel never ends.
    signal.alarm(int(seconds))
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.connect(SOCKET_NAME)  # relative: a path of any length will do
    walls = _put_up_walls(keeps_rights=rights == "keep")
    _serve(Channel(end), isolation="+".join(walls))
    sys.stdout.flush()


def _put_up_walls(*, keeps_rights: bool) -> tuple[str, ...]:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.MAX_FILE_BYTES, limits.MAX_FILE_BYTES))
    if not keeps_rights:
        limits.drop_privileges()
    return (*limits.forbid_processes(and_touching_others=True), "rlimits")


def _serve(channel: Channel, *, isolation: str) -> None:
    from cuda_gym.judge.sandbox.candidate_loop import serve

    serve(channel, isolation=isolation, own_inputs=True)


if __name__ == "__main__":
    main()
