"""Start a program with listening sockets, as systemd does: handover.py FDS PROGRAM WORDS...

FDS: the sockets' descriptors, with commas between them.
"""

import os
import socket
import sys
from collections.abc import Sequence

FIRST = 3  # sd_listen_fds(3)


def handover_words(listeners: Sequence[socket.socket]) -> list[str]:
    """Return the prefix of a program's command line; nothing without a socket."""
    if not listeners:
        return []
    return [sys.executable, __file__, ",".join(str(one.fileno()) for one in listeners)]


def main(descriptors: list[int], argv: list[str]) -> None:
    """Put the sockets where the program looks for them, and become it."""
    # First out of the way: one of them may stand where another has to be.
    copies = [os.dup(descriptor) for descriptor in descriptors]
    for at, copy in enumerate(copies):
        os.dup2(copy, FIRST + at)
        os.set_inheritable(FIRST + at, True)  # also where it stood there already
    os.environ["LISTEN_PID"] = str(os.getpid())
    os.environ["LISTEN_FDS"] = str(len(copies))
    os.execvp(argv[0], argv)  # what is not inheritable is closed by that


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1].split(",")], sys.argv[2:])
