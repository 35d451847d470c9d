"""JSON-RPC over Moonraker's WebSocket: calls, their answers, and notifications."""

import asyncio
import itertools
import json
from collections.abc import Callable

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.printers import loose
from printreach.printers.websocket import WebSocket, WebSocketFailed

SILENCE_S = 15.0
"""Moonraker reports its own load once a second, so silence means that it has stalled."""
ANSWER_S = 10.0
MAX_CALLS = 64

OnNotification = Callable[[str, object], None]
"""A callback for a notification: its method and params."""


class RpcRefused(Exception):
    """Moonraker's refusal of a call. code: HTTP's or JSON-RPC's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class RpcTimedOut(Exception):
    """No answer in time; the request may still be carried out."""


class Rpc:
    """One connection. run() reads until it ends; calls are made concurrently."""

    def __init__(self, socket: WebSocket, on_notification: OnNotification) -> None:
        self._socket = socket
        self._on_notification = on_notification
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[object]] = {}
        self._end: WebSocketFailed | None = None

    async def run(self) -> None:
        """Raises WebSocketFailed when the connection ends, which it always does."""
        try:
            while True:
                self._take(await self._socket.receive(SILENCE_S))
        except WebSocketFailed as failed:
            self._end = failed
            raise
        finally:
            end = self._end or WebSocketFailed("the connection was given up")
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(end)

    async def call(
        self, method: str, params: loose.Json = loose.EMPTY, *, timeout_s: float = ANSWER_S
    ) -> object:
        """Return the result. Raises RpcRefused, RpcTimedOut, WebSocketFailed."""
        if self._end is not None:
            raise self._end
        if len(self._waiting) >= MAX_CALLS:
            raise RpcTimedOut
        number = next(self._ids)
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        call = {"jsonrpc": "2.0", "method": method, "params": dict(params), "id": number}
        try:
            async with asyncio.timeout(timeout_s):
                await self._socket.send(json.dumps(call))
                return await answer
        except TimeoutError:
            raise RpcTimedOut from None
        finally:
            del self._waiting[number]

    def _take(self, message: str | bytes) -> None:
        """Handle a message; one that makes no sense is ignored."""
        decoded = parsed(message)
        method = loose.text(decoded, "method")
        if method is not None:
            params = decoded.get("params") if isinstance(decoded, dict) else None
            self._on_notification(method, params)
            return
        answer = self._waiting.get(loose.whole(decoded, "id") or 0)
        if answer is None or answer.done() or not isinstance(decoded, dict):
            return
        if "result" in decoded:
            answer.set_result(decoded["result"])
        else:
            answer.set_exception(_refused(decoded.get("error")))


def parsed(message: str | bytes) -> object:
    """Return parsed JSON; None for a message that is not JSON."""
    try:
        decoded: object = msgspec.json.decode(message)
    except BAD_JSON:
        return None
    return decoded


def _refused(error: object) -> RpcRefused:
    return RpcRefused(loose.whole(error, "code") or 0, loose.text(error, "message") or "")
