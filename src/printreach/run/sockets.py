"""Listening sockets that the parent process passes to the service (socket activation).

systemd opens the sockets of printreach.socket, hands them over as descriptors 3 and up, and keeps
them while one process of the service is replaced by the next: callers wait a moment in the socket's
queue, and none is refused. Any program may do the same; the protocol is sd_listen_fds(3).
"""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from printreach.relay.front import BACKLOG
from printreach.run.settings import Settings, SettingsError

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


def for_service(settings: Settings, listeners: Sequence[socket.socket]) -> Iterator[socket.socket]:
    """Return the inherited sockets that aren't for a connection's own port."""
    return (listener for listener in listeners if port_of(listener) not in settings.tunnel_ports)


def service_listener(settings: Settings, listeners: Sequence[socket.socket]) -> socket.socket:
    """Return the inherited socket of the service, or a new one. Raises OSError."""
    inherited = next(for_service(settings, listeners), None)
    if inherited is not None:
        return inherited
    host, port = settings.listen_host, settings.listen_port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


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
