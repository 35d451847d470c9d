"""A fence around a library that calls addresses of a stranger's choice.

Code inside it, on one thread, reaches allowed addresses only, whatever a name resolves to at that
moment and wherever a redirect leads; it reads no files but those of its own modules, and starts no
program. When its time is up, its sockets are shut down, so that blocked calls return.

It uses Python's audit events, which report every way to a socket or a file. A hook cannot be
removed, so there is one for the process; outside a fence it returns at once.
"""

import mimetypes
import os
import socket
import sys
import sysconfig
import threading
import zoneinfo
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from printreach.backends.lookups import is_own_address
from printreach.rules.public_addresses import Reach, parse_ip_address


class FenceViolation(PermissionError):
    """The attempted call is not allowed inside the fence."""


@dataclass(slots=True)
class Fence:
    """One run inside the fence.

    is_plain: it speaks no TLS. was_refused: it tried to reach an address that is not allowed.
    """

    reach: Reach
    is_plain: bool = False
    was_refused: bool = False
    is_over: bool = False
    _sockets: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, opened: socket.socket) -> None:
        with self._lock:
            self._check_time()
            self._sockets.append(opened)

    def check_connect(self, address: Any) -> None:
        self._check_time()
        host, port = address[:2] if isinstance(address, tuple) else (None, 0)
        ip = parse_ip_address(host) if isinstance(host, str) else None
        is_plain = self.is_plain
        if ip is None or not self.reach.allows(ip, port, is_plain=is_plain, is_own=_is_own(host)):
            self.was_refused = True
            raise FenceViolation("not an allowed address")

    def end(self) -> None:
        """Called from another thread: shut all sockets down and allow no new ones."""
        with self._lock:
            self.is_over = True
            sockets, self._sockets = self._sockets, []
        for one in sockets:
            with suppress(OSError):
                # Not the method: that of a TLS socket would wait for the other side.
                socket.socket.shutdown(one, socket.SHUT_RDWR)

    def _check_time(self) -> None:
        if self.is_over:
            raise TimeoutError("out of time")


def take_no_proxies(module: Any) -> None:
    """Keep a library from using proxies of the environment; it calls its own name `getproxies`.

    A proxy connects where the fence cannot see it. Outside a fence they are used as ever. May be
    called again.
    """
    getproxies = module.getproxies
    if getattr(getproxies, "is_fenced", False):
        return

    def outside_alone() -> dict[str, str]:
        is_inside = getattr(_here, "fence", None) is not None
        return {} if is_inside else dict(getproxies())

    outside_alone.is_fenced = True  # type: ignore[attr-defined]
    module.getproxies = outside_alone


_here = threading.local()


@contextmanager
def inside(fence: Fence) -> Iterator[None]:
    """Run the block on this thread inside the fence."""
    _install()
    _here.fence = fence
    try:
        yield
    finally:
        del _here.fence
        fence.end()


@cache
def _install() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    check = _CHECKS.get(event)
    if check is None:
        return
    fence: Fence | None = getattr(_here, "fence", None)
    if fence is not None:
        check(fence, arguments)


def _is_own(host: str) -> bool:
    """Return whether it is an own address; asked outside the fence, since it needs a socket."""
    fence = _here.fence
    _here.fence = None
    try:
        return is_own_address(host)
    finally:
        _here.fence = fence


def _check_new_socket(fence: Fence, arguments: tuple[Any, ...]) -> None:
    fence.note(arguments[0])


def _check_destination(fence: Fence, arguments: tuple[Any, ...]) -> None:
    fence.check_connect(arguments[1])


def _check_message(fence: Fence, arguments: tuple[Any, ...]) -> None:
    if arguments[1] is not None:  # a connected socket names no destination
        fence.check_connect(arguments[1])


def _check_open(_fence: Fence, arguments: tuple[Any, ...]) -> None:
    """Allow reading its own code and tables, but no .netrc, key file or the like."""
    path, _mode, flags = arguments
    is_write = bool(flags & (os.O_WRONLY | os.O_RDWR))
    if isinstance(path, int) and not is_write:
        return  # it has been opened already
    if is_write or not _is_readable(os.path.realpath(os.fsdecode(path))):
        raise FenceViolation("not inside the fence")


def _refuse(_fence: Fence, _arguments: tuple[Any, ...]) -> None:
    raise FenceViolation("not inside the fence")


_CHECKS: Final[dict[str, Callable[[Fence, tuple[Any, ...]], None]]] = {
    "socket.__new__": _check_new_socket,
    "socket.connect": _check_destination,
    "socket.sendto": _check_message,
    "socket.sendmsg": _check_message,
    "socket.bind": _refuse,
    "open": _check_open,
    **dict.fromkeys(
        (
            *("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"),
            *("os.spawn", "os.system", "pty.spawn"),
            # A thread would be outside the fence. Before Python 3.12 no event reports one.
            *("_thread.start_new_thread", "_thread.start_joinable_thread"),
            *("os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.symlink"),
        ),
        _refuse,
    ),
}


def _roots() -> tuple[str, ...]:
    paths = {*sysconfig.get_paths().values(), *zoneinfo.TZPATH, sys.base_prefix + "/lib"}
    return tuple(os.path.realpath(path) + os.sep for path in paths if path)


_ROOTS: Final = _roots()
_FILES: Final = frozenset(os.path.realpath(path) for path in mimetypes.knownfiles)


def _is_readable(path: str) -> bool:
    return path.startswith(_ROOTS) or path in _FILES
