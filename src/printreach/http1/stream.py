"""One TCP connection as bytes: bounded reads, awaited writes, and a callback when the peer ends."""

import asyncio
from collections.abc import Callable
from enum import Enum
from typing import cast

MAX_UNREAD_BYTES = 64 * 1024
"""Above this the socket is not read, so that TCP holds the sender back. One read may exceed it."""

WRITE_STALL_S = 60.0
"""The time-out for a peer that reads nothing."""


class _Peer(Enum):
    """The bytes that a connection still carries."""

    SENDING = "bytes in both directions"
    ENDED = "our bytes only: the peer sends no more"
    LOST = "nothing"


class ClientGone(ConnectionError):
    """The other side closed the connection, or stopped reading."""


class ByteStream(asyncio.Protocol):
    """The server's end of a connection. One task receives; any task may send whole messages.

    Reading goes on between calls of receive(), up to a bound, because that is how a closed
    connection is noticed. `on_gone` is called once when the peer ends its side.
    """

    def __init__(self, on_open: Callable[["ByteStream"], None]) -> None:
        self.on_gone: Callable[[], object] | None = None
        self._on_open = on_open
        self._unread = bytearray()
        self._peer_state = _Peer.SENDING
        self._is_paused = False
        self._reader: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.Transport

    @property
    def peer(self) -> str:
        """The peer's address, for logs."""
        address = self._transport.get_extra_info("peername")
        return str(address[0]) if address else "unknown"

    @property
    def is_gone(self) -> bool:
        """True once the peer ended its side. Half-closed counts: no browser or app does that."""
        return self._peer_state is not _Peer.SENDING

    async def receive(self) -> bytes:
        """Return the next bytes, at least one; b"" when the peer sends no more."""
        if not self._unread and not self.is_gone:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        data = bytes(self._unread)
        self._unread.clear()
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        return data

    def unread(self, data: bytes) -> None:
        """Put back surplus bytes; the next receive() returns them first."""
        self._unread[:0] = data

    async def send(self, data: bytes) -> None:
        """Write, and wait while too much is buffered.

        Raises ClientGone once the connection is lost, or when the peer stops reading.
        """
        if self._peer_state is not _Peer.LOST:
            self._transport.write(data)
            if not self._writable.is_set():
                await self._wait_until_writable()
        if self._peer_state is _Peer.LOST:
            raise ClientGone("the client closed the connection")

    def write(self, data: bytes) -> None:
        """Send without waiting, for the last bytes before close()."""
        self._transport.write(data)

    def end(self) -> None:
        """End our direction; bytes that the peer still sends can be received."""
        if self._peer_state is not _Peer.LOST and self._transport.can_write_eof():
            try:
                self._transport.write_eof()
            except OSError:
                pass  # the peer has reset the connection; connection_lost() is on its way

    def close(self) -> None:
        """Close once all written bytes are sent."""
        self._transport.close()

    def abort(self) -> None:
        """Close at once; unsent bytes are lost."""
        self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._on_open(self)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if len(self._unread) > MAX_UNREAD_BYTES and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake_reader()

    def eof_received(self) -> bool:
        self._end(_Peer.ENDED)
        return True  # keep the other direction: an answer may be on its way

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - gone is gone
        self._writable.set()
        self._end(_Peer.LOST)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def _wait_until_writable(self) -> None:
        try:
            async with asyncio.timeout(WRITE_STALL_S):
                await self._writable.wait()
        except TimeoutError:
            raise ClientGone("the client takes nothing any more") from None

    def _end(self, how: _Peer) -> None:
        was_gone, self._peer_state = self.is_gone, how
        if was_gone:
            return
        self._wake_reader()
        if self.on_gone is not None:
            self.on_gone()

    def _wake_reader(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
