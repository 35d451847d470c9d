"""What picows calls for a WebSocket link.

It is a class of its own because picows asks for one below its own, which mypyc can't compile.
"""

from typing import Protocol

from picows import WSFrame, WSListener, WSTransport


class Callbacks(Protocol):
    """The callbacks of picows that a link takes."""

    def on_ws_connected(self, transport: WSTransport) -> None: ...
    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None: ...
    def on_ws_disconnected(self, transport: WSTransport) -> None: ...
    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...


class WebSocketListener(WSListener):
    """Passes the callbacks of picows on to a link."""

    def __init__(self, link: Callbacks) -> None:
        self._link = link

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._link.on_ws_connected(transport)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        self._link.on_ws_frame(transport, frame)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self._link.on_ws_disconnected(transport)

    def pause_writing(self) -> None:
        self._link.pause_writing()

    def resume_writing(self) -> None:
        self._link.resume_writing()
