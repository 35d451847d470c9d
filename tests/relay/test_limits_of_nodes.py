"""Limits of a connection count its streams and viewers at all nodes together."""

import pytest

from printreach.contract.errors import ErrorCode
from printreach.relay import admission, printer_hosts
from printreach.rules.connections import DEFAULT_LIMITS
from tests.relay.caller import Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access, Rig
from tests.relay.scripted_agent import Asked, ignore
from tests.relay.test_other_nodes import two_nodes
from tests.relay.waiting import until


def film(asked: Asked) -> None:
    """Answer as a webcam does, with a first frame."""
    kind = [(b"Content-Type", b"multipart/x-mixed-replace; boundary=frame")]
    asked.answer(headers=kind, body=b"frame", fin=False)


async def ask(rig: Rig, access: Access, target: bytes = b"/webcam") -> Caller:
    caller = await Caller.connect(rig.port)
    caller.send(request(access.host, access.bearer, target=target))
    return caller


async def watch(rig: Rig, access: Access) -> Caller:
    before = rig.figure("webcam_streams")
    caller = await ask(rig, access)
    await until(lambda: rig.figure("webcam_streams") > before)
    return caller


async def hears(rig: Rig, key: str, count: int) -> None:
    """Wait until the node knows that the others have so many."""
    counts = rig.node._admission._counts
    await until(lambda: counts.held_by_others(key) == count)


@pytest.mark.provokes(609)
@on_a_loop
async def test_viewers_of_a_webcam_are_counted_at_all_nodes() -> None:
    async with two_nodes() as nodes:
        access = nodes[0].connect()
        await nodes[0].agent(script=film)
        half = DEFAULT_LIMITS.webcam_viewers // 2
        viewers = [await watch(rig, access) for rig in nodes for _ in range(half)]
        for rig in nodes:
            await hears(rig, f"webcams {access.unique_id}", half)
            async with calling(rig.port) as ninth:
                ninth.send(request(access.host, access.bearer, target=b"/webcam"))
                assert (await ninth.answer()).status == ErrorCode.WEBCAM_LIMIT

        for viewer in viewers:
            viewer.leave()
        for rig in nodes:
            await hears(rig, f"webcams {access.unique_id}", 0)
            await watch(rig, access)


@pytest.mark.provokes(612)
@on_a_loop
async def test_streams_of_a_connection_are_counted_at_all_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "CONNECTION_STREAMS", 8)
    monkeypatch.setattr(printer_hosts, "CONNECTION_STREAMS", 8)
    async with two_nodes() as nodes:
        access, other = nodes[0].connect(), nodes[0].connect("app-other")
        await nodes[0].agent(script=ignore)
        for rig in nodes:
            for _ in range(4):
                await ask(rig, access, b"/waits")
        for rig in nodes:
            await hears(rig, f"streams {access.unique_id}", 4)

        for rig in nodes:
            async with calling(rig.port) as ninth:
                ninth.send(request(access.host, access.bearer))
                assert (await ninth.answer()).status == ErrorCode.AGENT_ERROR
        before = nodes[1].figure("requests_at_printers")
        await ask(nodes[1], other, b"/waits")
        await until(lambda: nodes[1].figure("requests_at_printers") > before)
