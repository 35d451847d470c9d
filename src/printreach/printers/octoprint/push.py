"""OctoPrint's push channel: SockJS without its framing, which is a plain WebSocket.

Source: docs.octoprint.org, "Push updates", and 1.11.8 as it runs: `current` comes twice a second,
whether anything has changed or not, so silence means that OctoPrint is gone or stuck.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.websocket import WebSocket, WebSocketFailed, websocket

from .api import Login, OctoPrintApi
from .translate import EVENTS

SILENCE_S = 6.0
PROFILE_EVENTS = ("Connected", "PrinterProfileModified")
_SUBSCRIPTION = {
    "subscribe": {
        "state": {"logs": False, "messages": False},
        "events": sorted({*EVENTS, *PROFILE_EVENTS}),
        "plugins": False,
    }
}


class Push:
    """An open push channel."""

    def __init__(self, api: OctoPrintApi, socket: WebSocket) -> None:
        self._api = api
        self._socket = socket

    async def enter(self, login: Login) -> None:
        await self._socket.send(json.dumps({"auth": login.auth}))

    async def subscribe(self) -> None:
        """Leave out the terminal's log, which is most of what OctoPrint sends while it prints."""
        await self._socket.send(json.dumps(_SUBSCRIPTION))

    async def messages(self) -> AsyncIterator[tuple[str, Json]]:
        """Return what comes, as kinds and objects. Raises WebSocketFailed, PrinterRefused."""
        while True:
            message = loose.parsed(await self._socket.receive(SILENCE_S))
            for kind, content in loose.obj(message).items():
                if kind == "reauthRequired":
                    await self._enter_again()
                else:
                    yield kind, loose.obj(content)

    async def _enter_again(self) -> None:
        login = await self._api.login()
        if login is None:
            raise WebSocketFailed("OctoPrint ended its session")
        await self.enter(login)


@asynccontextmanager
async def push_channel(api: OctoPrintApi, login: Login) -> AsyncIterator[Push]:
    """Raises WebSocketFailed."""
    async with websocket(api.connect, api.push_url) as socket:
        push = Push(api, socket)
        await push.subscribe()
        await push.enter(login)
        yield push
