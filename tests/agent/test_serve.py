"""The dispatch of streams: a command of the service, or the printer's own web server."""

import json
from types import SimpleNamespace
from typing import cast

import pytest

from printreach.agent.addresses import WebAddress
from printreach.agent.commands.api import CommandApi
from printreach.agent.local_http import LocalRequests
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.serve import StreamServer
from printreach.contract.commands import PERMISSIONS_FIELD
from printreach.contract.errors import REMOTE_LOCKED
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.http1.client import Client, Connect
from printreach.tunnel.stream import Stream, StreamTunnel
from printreach.wire.errors import Reason, RemoteProtocolError
from printreach.wire.events import StreamOpened
from printreach.wire.heads import RequestHead, decode_response
from printreach.wire.session import Role, Session
from tests.agent.beside_printer import Rig, beside_printer, eventually, until
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import Server
from tests.tunnel.ends import Ending, Listener

COMMANDS = [
    b"/service-command-api",
    b"/service-command-api/",
    b"/service-command-api/status",
    b"/service-command-api/status?IncludeMaterialSystem=true",
    b"/service-command-api//",
    b"/service-command-api?x=/",
]
NOT_COMMANDS = [
    b"/",
    b"/service-command-apis",
    b"/service-command-api.html",
    b"/service-command-api%2Fstatus",
    b"/%73ervice-command-api/status",
    b"//service-command-api/status",
    b"/x/service-command-api/status",
    b"/Service-Command-Api/status",
    b"/./service-command-api/status",
    b"/?/service-command-api/status",
    b"*",
]


def server_of_no_printer(no_server: str, commands: CommandApi | None = None) -> StreamServer:
    return StreamServer(None, no_server, commands, remote_lock=RemoteLock())


async def rig_without_web_server() -> Rig:
    rig = Rig(Server(), server_of_no_printer("A Bambu Lab printer has no web server."))
    await rig.start()
    return rig


def envelope(asked: Listener) -> dict[str, int | str]:
    """The answer's body, whose head must be that of an envelope."""
    head = decode_response(asked.heads[0])
    assert head.status == 200
    assert (b"Content-Type", b"application/json") in head.headers
    assert (b"Content-Length", b"%d" % len(asked.body)) in head.headers
    decoded: dict[str, int | str] = json.loads(asked.body)
    return decoded


@pytest.mark.parametrize("target", COMMANDS)
@pytest.mark.parametrize("method", [b"GET", b"POST", b"DELETE"])
def test_a_command_that_nobody_knows_is_answered_with_754(method: bytes, target: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        rig = await rig_without_web_server()
        asked = rig.ask(method, target)

        await until(asked.is_whole)
        assert envelope(asked)["Status"] == 754
        assert rig.agent.stream_count == 0

    body()


@on_a_loop
async def test_the_envelope_names_the_command_but_not_at_any_length() -> None:
    rig = await rig_without_web_server()
    named, long = rig.ask(target=COMMANDS[2]), rig.ask(target=COMMANDS[2] + b"\xff" * 30_000)

    await until(named.is_whole)
    await until(long.is_whole)
    assert envelope(named)["Error"] == "There is no command '/status' here."
    assert len(long.body) < 1000


@on_a_loop
async def test_head_gets_the_envelopes_head() -> None:
    rig = await rig_without_web_server()
    asked = rig.ask(b"HEAD", COMMANDS[2])

    await until(asked.is_whole)
    assert asked.body == b""
    assert b"Content-Length" in asked.heads[0]


@on_a_loop
async def test_what_is_uploaded_to_a_command_that_nobody_knows_is_drained() -> None:
    rig = await rig_without_web_server()
    asked = rig.ask(b"POST", COMMANDS[2], body=b"x" * 60_000, fin=False)
    asked.stream.send(b"x" * 1_000_000, fin=True)

    await until(asked.is_whole)
    await eventually(lambda: rig.hub.stream_count == 0)
    await eventually(lambda: rig.agent.stream_count == 0)


@pytest.mark.parametrize("target", NOT_COMMANDS)
def test_every_other_target_is_the_printers_own_untouched(target: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with beside_printer() as rig:
            rig.ask(b"OPTIONS", target)
            head = await (await rig.printer.accept()).head()

            assert head.startswith(b"OPTIONS %b HTTP/1.1\r\n" % target)

    body()


@on_a_loop
async def test_a_printer_without_web_server_says_so() -> None:
    rig = await rig_without_web_server()
    asked = rig.ask()

    await until(asked.is_over)
    assert asked.endings == [Ending(Reason.REFUSED, "A Bambu Lab printer has no web server.")]
    assert rig.agent.stream_count == 0


@on_a_loop
async def test_known_commands_are_the_command_apis() -> None:
    class Commands:
        def __init__(self) -> None:
            self.served: list[bytes] = []

        def serve(self, stream: Stream, opened: StreamOpened, head: RequestHead) -> None:
            self.served.append(head.target)

    commands = Commands()
    rig = Rig(Server(), server_of_no_printer("", cast("CommandApi", commands)))
    await rig.start()
    for target in (*COMMANDS, b"/"):
        rig.ask(target=target)
    await eventually(lambda: len(commands.served) == len(COMMANDS))

    assert commands.served == COMMANDS


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        (b"/", b"control,files,camera"),
        (COMMANDS[2] + b"x", b"interface"),
        (b"/", b"interface,locked"),
    ],
)
def test_the_agent_itself_refuses_what_a_stream_may_not_do(target: bytes, missing: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with beside_printer() as rig:
            asked = rig.ask(b"POST", target, [(PERMISSIONS_FIELD, missing)])

            await until(asked.is_over)
            assert [one.reason for one in asked.endings] == [Reason.NOT_ALLOWED]
            assert rig.printer.has_no_connection

    body()


@pytest.mark.parametrize(
    ("method", "target", "permission"),
    [
        (b"GET", b"/", Permission.INTERFACE),
        (b"GET", b"/websocket", Permission.INTERFACE),
        (b"GET", b"/service-command-api/proxy/mqtt", Permission.INTERFACE),
        (b"POST", b"/service-command-api/set-temp", Permission.CONTROL),
        (b"POST", b"/service-command-api/pause", Permission.CONTROL),
        (b"PUT", b"/service-command-api/files/upload", Permission.FILES),
        (b"GET", b"/service-command-api/files/list", Permission.FILES),
        (b"GET", b"/service-command-api/webcam/stream", Permission.CAMERA),
        (b"GET", b"/service-command-api/webcam/snapshot", Permission.CAMERA),
    ],
)
@pytest.mark.parametrize("stamp", [[], [(PERMISSIONS_FIELD, b"control,files,camera,interface")]])
def test_what_the_agents_owner_does_not_allow_is_refused_whatever_the_service_says(
    method: bytes, target: bytes, permission: Permission, stamp: list[tuple[bytes, bytes]]
) -> None:
    @on_a_loop
    async def body() -> None:
        async with beside_printer(allowed=ALL_PERMISSIONS - {permission}) as rig:
            asked = rig.ask(method, target, stamp)

            await until(asked.is_over)
            [ending] = asked.endings
            assert ending.reason is Reason.NOT_ALLOWED
            assert "--allow" in ending.text
            assert rig.printer.has_no_connection

    body()


@on_a_loop
async def test_what_the_agents_owner_does_allow_goes_on() -> None:
    async with beside_printer(allowed=frozenset({Permission.INTERFACE})) as rig:
        rig.ask(b"GET", b"/")

        assert (await (await rig.printer.accept()).head()).startswith(b"GET / ")


@pytest.mark.parametrize("stamp", [b"", b"control,files,camera,interface"])
@pytest.mark.parametrize(
    ("method", "target"),
    [(b"GET", b"/"), (b"POST", b"/service-command-api/resume")],
)
def test_a_lock_that_the_service_told_refuses_control_whatever_the_stamp_says(
    method: bytes, target: bytes, stamp: bytes
) -> None:
    @on_a_loop
    async def body() -> None:
        async with beside_printer(is_locked=True) as rig:
            asked = rig.ask(method, target, [(PERMISSIONS_FIELD, stamp)] if stamp else [])

            await until(asked.is_over)
            assert asked.endings == [Ending(Reason.NOT_ALLOWED, REMOTE_LOCKED.meaning)]
            assert rig.printer.has_no_connection

    body()


@on_a_loop
async def test_while_locked_the_service_may_look_and_stop() -> None:
    async with beside_printer(is_locked=True) as rig:
        stops = [(PERMISSIONS_FIELD, b"control,files,camera,interface,despite-lock")]
        look = rig.ask(b"GET", b"/service-command-api/status")
        stop = rig.ask(b"POST", b"/service-command-api/cancel", stops)

        await until(look.is_whole)
        await until(stop.is_whole)  # the rig has no commands, and says so to whoever may ask


@on_a_loop
async def test_the_printers_web_server_is_not_told_what_a_stream_may_do() -> None:
    async with beside_printer() as rig:
        rig.ask(b"GET", b"/", [(PERMISSIONS_FIELD, b"interface")])
        head = await (await rig.printer.accept()).head()

        assert PERMISSIONS_FIELD.lower() not in head.lower()


SERVER = WebAddress(scheme="http", host="127.0.0.1", port=80)


@pytest.mark.parametrize("head", [b"", b"GET /\r\nHost : x\r\n", b"GET / HTTP/1.1\r\n", b"GET /\n"])
def test_a_head_that_cannot_be_read_is_no_request(head: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        local = LocalRequests(Client(cast("Connect", None)), SERVER, wants_outside_host=False)
        tunnel = SimpleNamespace(session=Session(Role.AGENT, now=0.0))
        stream = Stream(cast("StreamTunnel", tunnel), 1, None)
        opened = StreamOpened(1, head, b"", True, False, False)
        with pytest.raises(RemoteProtocolError):
            StreamServer(local, "", remote_lock=RemoteLock()).serve(stream, opened)

    body()
