"""The web role as a server on a unix socket, in the event loop of this process.

Only the relay's front reaches that socket, since it lies in the data directory, which belongs to
the service's user alone. So the caller's address and scheme are taken as the front passes them on.
"""

import asyncio
import logging
import os
import shutil
import socket
import stat
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, cast

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server
from granian.utils.proxies import wrap_asgi_with_proxy_headers
from litestar import Litestar

from printreach.relay.asgi import Application
from printreach.web.draining import Draining

_log = logging.getLogger(__name__)

SOCKET_NAME: Final = "web.sock"
_NEW_SOCKET_NAME: Final = "web.new"
"""The socket's name while it is created; shorter than the final one, so that its path always
fits.
"""

# The size of sun_path on Linux, less its closing zero byte.
_LONGEST_SOCKET_PATH_BYTES: Final = 107

# Connections that wait to be accepted. A unix socket does not let a caller wait for room here, as
# TCP does; a burst beyond it is refused.
_BACKLOG: Final = 1024

# The server counts connections, idle ones and event streams included, and lets callers beyond this
# many wait. By default it uses the backlog, 128, and that many open dashboards would starve
# everybody else.
_MOST_CONNECTIONS: Final = 4096

# The front sends each head in one piece. Shorter than the stop's deadline, so that a front that
# died in the middle of one does not hold up the stop.
_HEAD_TIMEOUT_MS: Final = 5_000

# Generous, since a busy machine may take long to start a server.
_START_DEADLINE_S: Final = 60.0
_STOP_DEADLINE_S: Final = 10.0
_CANCEL_DEADLINE_S: Final = 1.0


class WebNode:
    """Serves an application on a unix socket from start() to stop().

    path: the path of the socket. A relay in this process can call the application directly instead.
    """

    path: Path

    def __init__(self, app: Litestar) -> None:
        self._app = app
        self._draining = Draining(app)
        self._resources = AsyncExitStack()
        self._server: Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._is_stopping = False

    @property
    def application(self) -> Application:
        """The ASGI application, to be called only between start() and stop(), which drains it."""
        return cast("Application", self._draining)  # Litestar names its own types of a scope

    def end_streams(self) -> None:
        """End event streams and WebSockets, which would otherwise last for ever."""
        self._draining.end_streams()

    async def start(self, data_dir: Path, *, is_successor: bool = False) -> Path:
        """Serve, and return the socket's path once it accepts connections.

        The socket is in data_dir, or in a directory of its own if that path is too long for a
        socket. Raises OSError if another process serves on it, unless this one is its successor:
        then the path leads here from now on, and the other process drains.
        """
        self.path = path = self._choose_path(data_dir)
        _check_place(path, is_successor=is_successor)
        new = path.with_name(_NEW_SOCKET_NAME)
        new.unlink(missing_ok=True)
        await self._resources.enter_async_context(self._app.lifespan())
        self._server = _server(wrap_asgi_with_proxy_headers(self._draining, "*"), new)
        self._serving = asyncio.create_task(self._server.serve(), name="web node")
        self._serving.add_done_callback(self._report_end)
        try:
            async with asyncio.timeout(_START_DEADLINE_S):
                await self._until_it_accepts(new, self._serving)
            self._resources.callback(_unlink_if_same, path, new.lstat())
            new.rename(path)
        except BaseException:
            await self.stop(0)
            raise
        return path

    async def stop(self, deadline_s: float = _STOP_DEADLINE_S) -> None:
        """Accept nothing more, end event streams now and the rest by the deadline."""
        if self._server is not None and self._serving is not None:
            self._is_stopping = True
            self._server.stop()  # type: ignore[no-untyped-call]  # the library leaves it untyped
            self._draining.end_streams()
            await _wait(self._serving, deadline_s)
            self._draining.end_all()
            await _wait(self._serving, _CANCEL_DEADLINE_S)
            # Only clients that do not read are left; their connections end with the process.
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
            self._server = self._serving = None
        await self._resources.aclose()

    def _report_end(self, serving: asyncio.Task[None]) -> None:
        if not self._is_stopping:
            failure = None if serving.cancelled() else serving.exception()
            _log.error("the web role stopped by itself", exc_info=failure)

    def _choose_path(self, data_dir: Path) -> Path:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = data_dir.resolve() / SOCKET_NAME
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH_BYTES:
            return path
        short = tempfile.mkdtemp(prefix="printreach-")
        self._resources.callback(shutil.rmtree, short, ignore_errors=True)
        return Path(short).resolve() / SOCKET_NAME

    async def _until_it_accepts(self, path: Path, serving: asyncio.Task[None]) -> None:
        # The server reports that the socket is bound a moment before it listens.
        while not _accepts(path):
            if serving.done():
                serving.result()
                raise ConnectionError(f"the web role stopped while it started on {path}")
            await asyncio.sleep(0.01)


def _server(app: Any, path: Path) -> Server:
    server = Server(
        app,
        uds=path,
        # We run the lifespan ourselves, since the server would skip its shutdown when cancelled.
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=_HEAD_TIMEOUT_MS),
        backlog=_BACKLOG,
        backpressure=_MOST_CONNECTIONS,
        log_access=False,
        log_level=LogLevels.error,
        log_dictconfig=_logging(),
    )
    server.uds_permissions = 0o600
    return server


def _logging() -> dict[str, Any]:
    """Route the server's messages to the program's own logging.

    By itself it would write to standard output, which is for scripts, and would forget every
    handler that is set up. "Incremental" touches nothing but the logger named here.
    """
    loggers = {"_granian": {"level": "ERROR", "propagate": True}}
    return {"incremental": True, "handlers": {}, "loggers": loggers}


def _check_place(path: Path, *, is_successor: bool) -> None:
    """Refuse the path if a living process's socket or a file is there; a dead process's socket is
    fine.
    """
    try:
        is_socket = stat.S_ISSOCK(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if not is_socket:
        raise FileExistsError(f"{path} is in the way: it is not a socket")
    if not is_successor and _accepts(path):
        raise FileExistsError(f"another process serves on {path}")


def _unlink_if_same(path: Path, ours: os.stat_result) -> None:
    """Remove our socket, unless the path has become a successor's."""
    try:
        if os.path.samestat(path.lstat(), ours):
            path.unlink()
    except FileNotFoundError:
        pass  # it was already removed


def _accepts(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
    return True


async def _wait(task: asyncio.Task[None], seconds: float) -> None:
    """Wait for a task; leave it running when the time is up."""
    await asyncio.wait([task], timeout=seconds)
