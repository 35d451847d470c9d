"""A simulated slow uplink: a proxy that limits the rate in one direction."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

UPLINK_BYTES_S: Final = 20_000_000 // 8
_PIECE_BYTES: Final = 4096  # 1.6 ms of the uplink
# The buffers of the uplink and its modem: 13 ms. Loopback would buffer megabytes.
_BUFFER_BYTES: Final = 32 * 1024
_SEGMENT_BYTES: Final = 1448  # as on Ethernet; loopback's 64 KiB would not fit the buffer
_OVERSLEPT_S: Final = 0.01  # oversleeping is compensated up to this


@contextmanager
def paced_uplink(target_port: int) -> Iterator[int]:
    """Yield a port that forwards to the target over a paced uplink; the downlink is not paced."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SEGMENT_BYTES)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        opened: list[socket.socket] = []
        accepting = threading.Thread(target=_accept, args=(listener, target_port, opened))
        accepting.start()
        try:
            yield listener.getsockname()[1]
        finally:
            for one in [listener, *opened]:
                _shut(one)
            accepting.join()


def _accept(listener: socket.socket, target_port: int, opened: list[socket.socket]) -> None:
    while True:
        try:
            caller, _ = listener.accept()
            target = socket.create_connection(("127.0.0.1", target_port))
        except OSError:
            return
        opened += [caller, target]
        for one in (caller, target):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, sink, is_paced in ((caller, target, True), (target, caller, False)):
            threading.Thread(target=_pass_on, args=(source, sink, is_paced), daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket, is_paced: bool) -> None:
    free_at = time.monotonic()  # the time at which the uplink has sent all data so far
    try:
        while data := source.recv(_PIECE_BYTES if is_paced else 1 << 16):
            if is_paced:
                free_at = max(free_at, time.monotonic() - _OVERSLEPT_S) + len(data) / UPLINK_BYTES_S
                time.sleep(max(0.0, free_at - time.monotonic()))
            sink.sendall(data)
    except OSError:
        pass  # one side has closed, so the other is closed below
    _shut(source)
    _shut(sink)


def _shut(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it was not connected, or no longer
