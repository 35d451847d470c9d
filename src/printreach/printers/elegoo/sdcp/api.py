"""A printer's SDCP WebSocket: reports, orders and their answers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import IntEnum
from typing import NoReturn

from printreach.contract.files import JsonObject
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import (
    connect_to,
    not_authorized,
    too_many_clients,
    unreachable,
)
from printreach.printers.following import Answers
from printreach.printers.loose import Json
from printreach.printers.port import failed, no_such_file
from printreach.printers.setup import PrinterSetup, authority
from printreach.printers.websocket import WebSocket, WebSocketFailed, websocket

USUAL_PORT, CC2_PORT = 3030, 1883
SILENT_S = 10.0
"""A printer that is silent for this long is lost, since its status is requested every second."""
PROBE_S = 3.0
_TOO_MANY = "too many client"
_FROM_PC = 1


class Cmd(IntEnum):
    """The requests that are sent. The numbers are the protocol's."""

    STATUS = 0
    ATTRIBUTES = 1
    START = 128
    PAUSE = 129
    STOP = 130
    CONTINUE = 131
    END_TRANSFER = 255
    LIST = 258
    DELETE = 259
    VIDEO = 386
    MOVE = 401
    HOME = 402
    SET = 403


NOT_FOUND = 2
_ACKS = {
    Cmd.START: {
        1: N_("it is busy"),
        NOT_FOUND: N_("it has no such file"),
        3: N_("the file is damaged"),
        4: N_("the file can't be read"),
        5: N_("the file is for another resolution"),
        6: N_("the file's format is not known"),
        7: N_("the file is for another printer"),
    }
}
"""Acknowledgements by SDCP's document; their meaning depends on the command."""


class SdcpApi:
    """One printer. One task is connected() and listens; any may ask."""

    def __init__(self, setup: PrinterSetup) -> None:
        self.host = setup.host
        self.where = in_english("The printer at %(host)s", host=setup.host)
        self._setup = setup
        self._port = setup.ports.get("sdcp", USUAL_PORT)
        self._socket: WebSocket | None = None
        self._answers = Answers()
        self.board = ""

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[AsyncIterator[Json]]:
        """Yield the printer's messages while this is open. Raises PrinterRefused."""
        url = f"ws://{authority(self.host, self._port)}/websocket"
        connect = connect_to(self.host, self._port, tls=False)
        try:
            async with websocket(connect, url) as socket:
                self._socket = socket
                yield self._messages(socket)
        except WebSocketFailed as exc:
            await self._explain(exc)
        finally:
            self._socket = None
            self._answers.give_up(unreachable(self.where, N_("the connection broke off")))

    async def send(self, cmd: Cmd, data: JsonObject, request_id: str = "") -> None:
        """Send without waiting for an answer. Raises PrinterRefused."""
        if self._socket is None:
            raise unreachable(self.where, N_("there is no connection"))
        message = {
            "Id": "",
            "Data": {
                "Cmd": int(cmd),
                "Data": data,
                "RequestID": request_id or self._new_id(),
                "MainboardID": self.board,
                "TimeStamp": int(self._setup.unix_time()),
                "From": _FROM_PC,
            },
            "Topic": f"sdcp/request/{self.board}",
        }
        try:
            await self._socket.send(json.dumps(message))
        except WebSocketFailed as exc:
            raise unreachable(self.where, exc.text) from exc

    async def ask(self, cmd: Cmd, data: JsonObject) -> Json:
        """Return the data of the answer.

        Raises PrinterRefused where that is a no, or none comes.
        """
        request_id = self._new_id()
        message = await self._answers.after(self.send(cmd, data, request_id), request_id)
        ack = loose.whole(message, "Ack")
        if ack == NOT_FOUND and cmd is Cmd.START:
            raise no_such_file(str(data.get("Filename")))
        if ack:
            words = _ACKS.get(cmd, {}).get(ack, in_english("it answers %(number)s", number=ack))
            raise failed(in_english("The printer refused: %(why)s.", why=words))
        return message

    def _new_id(self) -> str:
        return self._setup.token_bytes(16).hex()

    async def _messages(self, socket: WebSocket) -> AsyncIterator[Json]:
        while True:
            try:
                async with asyncio.timeout(SILENT_S):
                    text = await socket.receive(SILENT_S)
            except TimeoutError:
                raise unreachable(self.where, N_("it says nothing any more")) from None
            message = _read(text)
            if message is None:
                if _TOO_MANY in str(text[:200]).lower():
                    raise too_many_clients(self.where)
                continue  # "pong", or nonsense
            data = loose.obj(message, "Data")
            self.board = loose.text(message, "MainboardID") or self.board
            self._answers.settle(loose.text(data, "RequestID") or "", loose.obj(data, "Data"))
            yield message

    async def _explain(self, exc: WebSocketFailed) -> NoReturn:
        """Say why there is no connection. Raises PrinterRefused."""
        if _TOO_MANY in exc.text.lower():
            raise too_many_clients(self.where) from exc
        if exc.status is None and await self._is_cc2():
            raise not_authorized(
                in_english(
                    "%(where)s is a Centauri Carbon 2: give its serial number and its access code.",
                    where=self.where,
                )
            ) from exc
        raise unreachable(self.where, exc.text) from exc

    async def _is_cc2(self) -> bool:
        """Return whether it is a Centauri Carbon 2, which has an MQTT broker and no SDCP."""
        port = self._setup.ports.get("mqtt", CC2_PORT)
        try:
            async with asyncio.timeout(PROBE_S):
                _, writer = await asyncio.open_connection(self.host, port)
        except (OSError, ValueError, TimeoutError):
            return False
        writer.close()
        return True


def _read(text: str | bytes) -> Json | None:
    """Parse a message; None for what is no JSON object."""
    message = loose.parsed(text)
    return message if isinstance(message, dict) else None
