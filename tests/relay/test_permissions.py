"""Requests without permission are refused in every spelling, and open streams are ended."""

import asyncio
import json
from dataclasses import replace

import pytest

from printreach.contract.commands import PERMISSIONS_FIELD
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.rules.connections import ConnectionKind
from printreach.rules.connections.permissions import Access
from tests.relay.caller import Answer, BrokenOff, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access as Proof
from tests.relay.rig import Rig, relay
from tests.relay.scripted_agent import Asked, answer_when_complete
from tests.relay.waiting import until
from tests.rules.connections.test_permissions import ODD_SPELLINGS

API = b"/service-command-api"
HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")
NOTHING = Access(permissions=frozenset())
LOCKED = Access(is_locked=True)


def without(permission: Permission) -> Access:
    return Access(permissions=ALL_PERMISSIONS - {permission})


async def ask(rig: Rig, access: Proof, method: bytes, target: bytes, *fields: bytes) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, access.bearer, *fields, method=method, target=target))
        return await caller.answer()


@pytest.mark.parametrize(
    ("permission", "method", "target"),
    [
        (Permission.CONTROL, b"POST", API + b"/start"),
        (Permission.CONTROL, b"POST", API + b"/pause"),
        (Permission.FILES, b"GET", API + b"/files/list"),
        (Permission.FILES, b"PUT", API + b"/files/upload?path=gcode/a"),
        (Permission.CAMERA, b"GET", API + b"/webcam/snapshot"),
        (Permission.CAMERA, b"GET", API + b"/webcam/stream"),
        (Permission.INTERFACE, b"GET", b"/"),
        (Permission.INTERFACE, b"POST", b"/api/job"),
        (Permission.INTERFACE, b"GET", API + b"/proxy/mqtt"),
    ],
)
def test_a_permission_that_a_connection_lacks_is_606_and_named(
    permission: Permission, method: bytes, target: bytes
) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            lacking = rig.connect("app-lacking", may=without(permission))
            having = rig.connect("app-having", may=Access(permissions=frozenset({permission})))
            agent = await rig.agent()

            answer = await ask(rig, lacking, method, target)

            assert answer.status == 606
            assert permission.value in json.loads(answer.body)["Error"]
            assert agent.asked == []
            assert (await ask(rig, having, method, target)).status == 200

    body()


@pytest.mark.parametrize("as_page", [True, False])
@pytest.mark.parametrize(
    ("may", "reason"),
    [(LOCKED, b"Remote control locked"), (without(Permission.INTERFACE), b"Not allowed")],
)
def test_the_status_line_of_606_speaks_of_credentials_only_where_they_are_wrong(
    may: Access, reason: bytes, *, as_page: bool
) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            access = rig.connect(may=may)
            await rig.agent()
            fields = (b"Accept: text/html",) if as_page else ()

            refused = await ask(rig, access, b"GET", b"/", *fields)
            wrong = await ask(rig, replace(access, token=b"wrong"), b"GET", b"/", *fields)

            assert (refused.status, refused.reason) == (606, reason)
            assert (wrong.status, wrong.reason) == (606, b"Bad credentials")

    body()


@pytest.mark.parametrize("fields", [HANDSHAKE, ()])
@on_a_loop
async def test_websockets_to_the_printer_need_the_interface(fields: tuple[bytes, ...]) -> None:
    async with relay() as rig:
        access = rig.connect(may=without(Permission.INTERFACE))
        agent = await rig.agent()

        assert (await ask(rig, access, b"GET", b"/sockjs/websocket", *fields)).status == 606
        assert agent.asked == []


@pytest.mark.parametrize("method", [b"GET", b"POST"])
@pytest.mark.parametrize(
    "target", [one for one in ODD_SPELLINGS if b"#" not in one and one != b"*"]
)
def test_no_spelling_of_a_path_gets_past_the_relay(method: bytes, target: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            access = rig.connect(may=NOTHING)
            agent = await rig.agent()
            absolute = b"http://" + access.host + target

            assert (await ask(rig, access, method, target)).status in (400, 606)
            assert (await ask(rig, access, method, absolute)).status in (400, 606)
            assert agent.asked == []

    body()


@on_a_loop
async def test_the_status_is_open_to_every_connection() -> None:
    async with relay() as rig:
        access = rig.connect(may=NOTHING)
        await rig.agent()

        assert (await ask(rig, access, b"GET", API + b"/status")).status == 200
        assert (await ask(rig, access, b"GET", API + b"/webcam/list")).status == 200


@on_a_loop
async def test_a_person_without_a_permission_reads_who_can_give_it() -> None:
    async with relay() as rig:
        access = rig.connect(may=without(Permission.INTERFACE))
        await rig.agent()

        answer = await ask(rig, access, b"GET", b"/", b"Accept: text/html")

        assert answer.status == 606
        assert b"<h1>Not allowed here</h1>" in answer.body
        assert b"permission for interface" in answer.body
        assert b"can allow it" in answer.body


@on_a_loop
async def test_the_agent_is_told_what_a_stream_may_do_and_believes_no_caller() -> None:
    async with relay() as rig:
        limited = rig.connect("app-limited", may=Access(permissions=frozenset({Permission.FILES})))
        full = rig.connect("app-full")
        agent = await rig.agent()
        forged = PERMISSIONS_FIELD + b": control,files,camera,interface"
        forged_too = b"x_service_permissions: control"

        await ask(rig, limited, b"GET", API + b"/files/list", forged, forged_too)
        await ask(rig, full, b"GET", API + b"/files/list", forged)

        stamped, plain = agent.asked
        assert stamped.all(PERMISSIONS_FIELD.lower()) == [b"files"]
        assert stamped.all(b"x_service_permissions") == []
        assert plain.all(PERMISSIONS_FIELD.lower()) == []


def begin_stream(asked: Asked) -> None:
    asked.answer(headers=[(b"Content-Type", b"image/jpeg")], body=b"x", fin=False)


@pytest.mark.parametrize(
    ("target", "taken"),
    [
        (API + b"/webcam/stream", without(Permission.CAMERA)),
        (API + b"/files/download?path=gcode/a", without(Permission.FILES)),
        (b"/events", without(Permission.INTERFACE)),
        (b"/events", LOCKED),
    ],
)
def test_a_permission_that_is_taken_ends_the_streams_that_need_it(
    target: bytes, taken: Access
) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            access = rig.connect()
            agent = await rig.agent(script=begin_stream)
            async with calling(rig.port) as caller:
                caller.send(request(access.host, access.bearer, target=target))
                assert (await caller.head()).status == 200
                await rig.permit(access, taken)
                with pytest.raises(BrokenOff):
                    await caller.chunks()
            await until(lambda: agent.asked[0].reset is not None)

    body()


@on_a_loop
async def test_streams_that_need_no_lost_permission_go_on() -> None:
    async with relay() as rig:
        access = rig.connect()
        agent = await rig.agent(script=begin_stream)
        async with calling(rig.port) as caller:
            caller.send(request(access.host, access.bearer, target=API + b"/webcam/stream"))
            assert (await caller.head()).status == 200
            await rig.permit(access, Access(permissions=frozenset({Permission.CAMERA})))
            await rig.permit(access, LOCKED)
            agent.asked[0].stream.send(b"y", fin=True)
            assert await caller.chunks() == b"xy"


SMART = b'{"SmartPause": true, "ZLiftMm": 500, "RetractFilamentMm": 500}'


async def bodies_of_pauses(rig: Rig, access: Proof) -> tuple[bytes, list[bytes]]:
    """Return the body and the Content-Length of a smart pause that reached the agent."""
    agent = await rig.agent(script=answer_when_complete)
    length = b"Content-Length: %d" % len(SMART)
    async with calling(rig.port) as caller:
        fields = (length, b"Content-Type: application/json")
        target = API + b"/pause?x=1"
        caller.send(request(access.host, access.bearer, *fields, method=b"POST", target=target))
        await asyncio.sleep(0.05)  # the body comes in a packet of its own
        caller.send(SMART)
        assert (await caller.answer()).status == 200
    [asked] = agent.asked
    return asked.body, asked.all(b"content-length")


@on_a_loop
async def test_while_remote_control_is_locked_nothing_of_a_smart_pause_reaches_the_agent() -> None:
    async with relay() as rig:
        assert await bodies_of_pauses(rig, rig.connect(may=LOCKED)) == (b"", [])


@on_a_loop
async def test_while_it_is_not_locked_a_pause_passes_as_it_came() -> None:
    async with relay() as rig:
        length = b"%d" % len(SMART)
        assert await bodies_of_pauses(rig, rig.connect()) == (SMART, [length])


@pytest.mark.parametrize("kind", [ConnectionKind.APP, ConnectionKind.SHARED])
@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        (b"POST", API + b"/resume", 606),
        (b"POST", API + b"/set-temp", 606),
        (b"PUT", API + b"/files/upload?path=gcode/a", 606),
        (b"POST", API + b"/files/delete?path=gcode/a", 606),
        (b"GET", b"/", 606),
        (b"POST", API + b"/pause", 200),
        (b"GET", API + b"/status", 200),
        (b"GET", API + b"/webcam/stream", 200),
        (b"GET", API + b"/files/list", 200),
    ],
)
def test_while_remote_control_is_locked_only_looking_and_pausing_pass(
    kind: ConnectionKind, method: bytes, target: bytes, status: int
) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            access = rig.connect(kind=kind, may=LOCKED)
            await rig.agent()

            answer = await ask(rig, access, method, target)

            assert answer.status == status
            assert status == 200 or "locked" in json.loads(answer.body)["Error"]

    body()
