"""What is said over the printer's WebSocket.

The printer sends {"Status": …} at once and on every change. A client sends an order as
{"Order": "light", "Arguments": {"On": false}}, answered with {"Done": "light"} or
{"Error": "…", "Order": "light"}; {"Echo": …} and binary messages come back as they are.
"""

import asyncio

from printreach.http1.stream import ClientGone
from printreach.printers.simulated.engine import Engine

from .arguments import Arguments, BadArguments, needed, read_json
from .feed import StatusFeed
from .orders import Control
from .reports import encode
from .websocket import WebSocket

_QUIET_S = 3600.0


class Talk:
    """Holds conversations, each on a connection of its own."""

    def __init__(self, engine: Engine, control: Control) -> None:
        self._engine = engine
        self._control = control

    async def __call__(self, socket: WebSocket) -> None:
        pushing = asyncio.create_task(self._push(socket))
        try:
            while (message := await socket.receive()) is not None:
                reply = message if isinstance(message, bytes) else await self._reply(message)
                await socket.send(reply)
        finally:
            pushing.cancel()

    async def _push(self, socket: WebSocket) -> None:
        feed = StatusFeed(self._engine)
        try:
            while True:
                if status := await feed.next(_QUIET_S):
                    await socket.send(f'{{"Status":{status.decode()}}}')
        except ClientGone:
            pass  # the one who receives is told too

    async def _reply(self, message: str) -> str:
        try:
            given = read_json(message)
            if isinstance(given, dict) and list(given) == ["Echo"]:
                return _echo(given)
            said = Arguments(given, "Order", "Arguments")
            order = needed("Order", said.text("Order"))
        except BadArguments as exc:
            return encode({"Error": str(exc)}).decode()
        problem = await self._control.execute(order, said.any("Arguments") or {})
        if problem is not None:
            return encode({"Error": problem.sentence, "Order": order}).decode()
        return encode({"Done": order}).decode()


def _echo(given: dict[str, object]) -> str:
    try:
        return encode(given).decode()
    except ValueError:  # half a character, or a number too large to write
        raise BadArguments("That can't be said back.") from None
