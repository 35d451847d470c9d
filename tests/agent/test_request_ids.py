"""The id of a request at the agent: in its log, and not at the printer."""

import asyncio
import logging
from typing import cast

import pytest

from printreach.agent.commands.api import CommandApi
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.serve import StreamServer
from printreach.agent.service_connection import CAPABILITIES
from printreach.contract.signin import REQUEST_IDS
from printreach.http1.request_ids import REQUEST_ID
from printreach.tunnel.stream import Stream
from printreach.wire.events import StreamOpened
from printreach.wire.heads import REQUEST_ID_FIELD, RequestHead
from tests.agent.beside_printer import Rig, beside_printer, eventually, until
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import Server

ONE, OTHER = b"0af7651916cd43dd8448eb211c80319c", b"5e0c8f1c-7f0b-4a3e-9f39"
STATUS = b"/service-command-api/status"


def named(request_id: bytes) -> list[tuple[bytes, bytes]]:
    return [(REQUEST_ID_FIELD, request_id), (b"Host", b"app-one.example")]


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """What was logged about requests: the id, and what was said."""
    records = [record for record in caplog.records if hasattr(record, "request_id")]
    return [(record.request_id, record.getMessage()) for record in records]


def test_the_agent_tells_that_it_takes_ids() -> None:
    assert REQUEST_IDS in CAPABILITIES


@on_a_loop
async def test_the_printer_does_not_get_the_id_and_the_log_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "printreach.agent")
    async with beside_printer() as rig:
        rig.ask(target=b"/api/version?key=secret", headers=named(ONE), host=None)
        head = await (await rig.printer.accept()).head()

        assert b"app-one.example" in head
        assert b"request-id" not in head.lower()
        assert logged(caplog) == [(ONE.decode(), "GET /api/version: taken")]


@on_a_loop
async def test_a_printer_that_breaks_its_answer_off_is_logged_with_the_id(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "printreach.agent")
    async with beside_printer() as rig:
        asked = rig.ask(headers=named(ONE), host=None)
        connection = await rig.printer.accept()
        await connection.head()
        connection.send(b"no HTTP\r\n\r\n")

        await until(asked.is_over)
        request_id, said = logged(caplog)[-1]
        assert (request_id, "no answer that can be passed on" in said) == (ONE.decode(), True)


@on_a_loop
async def test_each_command_knows_its_own_id() -> None:
    class Commands:
        """Each command looks at its id after the others have begun."""

        def __init__(self) -> None:
            self.known: list[str] = []
            self.tasks: list[asyncio.Task[None]] = []

        def serve(self, _stream: Stream, _opened: StreamOpened, _head: RequestHead) -> None:
            self.tasks.append(asyncio.create_task(self._serve()))

        async def _serve(self) -> None:
            await asyncio.sleep(0)
            self.known.append(REQUEST_ID.get())

    commands = Commands()
    server = StreamServer(None, "", cast("CommandApi", commands), remote_lock=RemoteLock())
    rig = Rig(Server(), server)
    await rig.start()
    for headers in (named(ONE), named(OTHER), []):
        rig.ask(target=STATUS, headers=headers, host=None)
    await eventually(lambda: len(commands.known) == 3)

    assert commands.known == [ONE.decode(), OTHER.decode(), ""]
