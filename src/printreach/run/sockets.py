"""Listening sockets that the parent process passes to the service (socket activation).

systemd opens the sockets of printreach.socket, hands them over as descriptors 3 and up, and keeps
them while one process of the service is replaced by the next: callers wait a moment in the socket's
queue, and none is refused. Any program may do the same; the protocol is sd_listen_fds(3).
"""

import os
import socket
from collections.abc import Mapping
from typing import Final

from printreach.run.settings import SettingsError

FIRST_DESCRIPTOR: Final = 3


def handed_over(
    environ: Mapping[str, str], pid: int, first: int = FIRST_DESCRIPTOR
) -> tuple[socket.socket, ...]:
    """Return the sockets passed to the process with this id; usually none.

    first: the descriptor of the first of them. Raises SettingsError for what nobody can accept
    callers on.
    """
    if environ.get("LISTEN_PID") != str(pid):
        return ()  # they were meant for a parent process, which left the variables set
    count = environ.get("LISTEN_FDS", "")
    if not count.isascii() or not count.isdecimal():
        raise SettingsError(f"LISTEN_FDS is {count!r}, which is not a number of sockets.")
    return tuple(_take(first + at) for at in range(int(count)))


def port_of(listener: socket.socket) -> int:
    """Return the port on which it listens."""
    port: int = listener.getsockname()[1]
    return port


def address_of(listener: socket.socket) -> str:
    """Return host and port as in a URL."""
    host, port, *_ = listener.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _take(descriptor: int) -> socket.socket:
    try:
        listener = socket.socket(fileno=descriptor)
    except OSError as error:
        raise SettingsError(
            f"Descriptor {descriptor}, handed over with LISTEN_FDS, is no socket: {error.strerror}."
        ) from error
    if not _takes_callers(listener):
        raise SettingsError(
            f"Descriptor {descriptor}, handed over with LISTEN_FDS, is not a TCP socket that"
            " listens: ListenStream= with an address and a port makes one."
        )
    os.set_inheritable(descriptor, False)
    return listener


def _takes_callers(listener: socket.socket) -> bool:
    is_tcp = listener.family in (socket.AF_INET, socket.AF_INET6) and (
        listener.type == socket.SOCK_STREAM
    )
    return is_tcp and bool(listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
