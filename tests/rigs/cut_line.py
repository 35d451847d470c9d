"""A line between two programs on this machine that can be cut without a word."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 65536


class CutLine:
    """Passes connections on to a port. port: where it listens.

    While it is cut nothing passes, and neither end is told: connections stay open, and new ones are
    accepted, as by a host that has vanished behind a switch.
    """

    def __init__(self, listener: socket.socket) -> None:
        self.port: int = listener.getsockname()[1]
        self.target = 0
        self._listener = listener
        self._passes = threading.Event()
        self._passes.set()
        self._sockets: list[socket.socket] = []

    def cut(self) -> None:
        self._passes.clear()

    def mend(self) -> None:
        """Pass on again; connections of before are closed, as their ends have given them up."""
        self._close_all()
        self._passes.set()

    def close(self) -> None:
        self._passes.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._close_all()

    def serve(self) -> None:
        """Accept connections until it is closed."""
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(near)
            threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        self._passes.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self.target), 10)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        self._sockets.append(far)
        threading.Thread(target=self._pass_on, args=(far, near), daemon=True).start()
        self._pass_on(near, far)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                self._passes.wait()
                target.sendall(chunk)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _close_all(self) -> None:
        sockets, self._sockets = self._sockets, []
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextmanager
def cut_line(target: int = 0) -> Iterator[CutLine]:
    """Run a line to this port of 127.0.0.1; it may be set later."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line = CutLine(listener)
        line.target = target
        serving = threading.Thread(target=line.serve)
        serving.start()
        try:
            yield line
        finally:
            line.close()
            serving.join()
