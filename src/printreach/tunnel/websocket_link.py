"""The link over a WebSocket, by picows: what both the relay and the agent use."""

import socket

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport

from .link import MAX_MESSAGE_BYTES, LinkReceiver

SUBPROTOCOL = "printreach.tunnel.v1"

HIGH_WATER_BYTES = 64 * 1024
"""Unsent bytes in our own buffer above which streams take turns; a chunk's worth."""
FRAME_HEAD_ROOM = 14
"""What picows needs before a message to put a frame's head there."""
NOTSENT_LOWAT_BYTES = 64 * 1024
"""Unsent bytes the kernel takes: with more, a page waits behind a download it can't overtake."""


class WebSocketLink(WSListener):
    def __init__(self) -> None:
        self._transport: WSTransport | None = None
        self._receiver: LinkReceiver | None = None
        self._early: list[bytes] = []
        self._parts: list[bytes] = []  # of a message that a proxy on the way has fragmented
        self._lost: str | None = None

    # --- Link ---------------------------------------------------------------------------------

    def start(self, receiver: LinkReceiver) -> None:
        self._receiver = receiver
        early, self._early = self._early, []
        for message in early:
            receiver.on_link_message(message)
        if self._lost is not None:
            receiver.on_link_lost(self._lost)

    def send(self, message: bytes) -> None:
        if self._transport is not None and self._lost is None:
            # Not `send`: its header for a large message lies in a buffer that the next call
            # overwrites, while uvloop may still hold it to be written.
            framed = bytearray(FRAME_HEAD_ROOM)
            framed += message
            self._transport.send_reuse_external_bytearray(WSMsgType.BINARY, framed, FRAME_HEAD_ROOM)

    def close(self) -> None:
        if self._transport is not None and self._lost is None:
            self._transport.send_close(WSCloseCode.OK)
            self._transport.disconnect()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.disconnect(graceful=False)

    # --- picows -------------------------------------------------------------------------------

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        raw = transport.underlying_transport
        raw.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        sock = raw.get_extra_info("socket")
        if sock is not None and sock.family != getattr(socket, "AF_UNIX", None):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if hasattr(socket, "TCP_NOTSENT_LOWAT"):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, NOTSENT_LOWAT_BYTES)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.msg_type
        if kind == WSMsgType.BINARY and frame.fin:
            self._deliver(frame.get_payload_as_memoryview())
        elif kind in (WSMsgType.BINARY, WSMsgType.CONTINUATION):
            self._gather(transport, frame)
        elif kind == WSMsgType.CLOSE:
            transport.send_close(WSCloseCode.OK)
            transport.disconnect()
        elif kind == WSMsgType.TEXT:
            transport.send_close(WSCloseCode.UNSUPPORTED_DATA, b"binary messages only")
            transport.disconnect()

    def on_ws_disconnected(self, _transport: WSTransport) -> None:
        if self._lost is None:
            self._lost = "the connection was closed"
            if self._receiver is not None:
                self._receiver.on_link_lost(self._lost)

    def pause_writing(self) -> None:
        if self._receiver is not None:
            self._receiver.on_link_congested()

    def resume_writing(self) -> None:
        if self._receiver is not None:
            self._receiver.on_link_clear()

    # --- helpers ------------------------------------------------------------------------------

    def _deliver(self, message: bytes | memoryview) -> None:
        if self._receiver is not None:
            self._receiver.on_link_message(message)
        else:
            self._early.append(bytes(message))

    def _gather(self, transport: WSTransport, frame: WSFrame) -> None:
        self._parts.append(frame.get_payload_as_bytes())
        if sum(map(len, self._parts)) > MAX_MESSAGE_BYTES:
            transport.send_close(WSCloseCode.MESSAGE_TOO_BIG)
            transport.disconnect()
        elif frame.fin:
            whole, self._parts = b"".join(self._parts), []
            self._deliver(whole)
