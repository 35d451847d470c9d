"""Limits of a connection: sizes up and down, webcam viewers, and their time."""

import json
from dataclasses import replace

import pytest

from printreach.rules.connections import DEFAULT_LIMITS
from printreach.wire.errors import Reason
from tests.relay.caller import Answer, BrokenOff, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access, Rig, relay
from tests.relay.scripted_agent import Asked, answer_when_complete, ignore
from tests.relay.waiting import settle, until

SMALL = replace(DEFAULT_LIMITS, upload_bytes=1000, download_bytes=1000)
CHUNKED = b"Transfer-Encoding: chunked"


def chunks(size: int) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (size, b"x" * size)


def refusal(answer: Answer) -> int:
    assert json.loads(answer.body)["Status"] == answer.status
    assert answer.all(b"x-service-error") == [b"%d" % answer.status]
    return answer.status


# --- uploads --------------------------------------------------------------------------------------


@pytest.mark.provokes(608)
@on_a_loop
async def test_an_upload_that_announces_too_much_is_608_and_never_begins() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(limits=SMALL), await rig.agent()
        caller.send(request(access.host, access.bearer, b"Content-Length: 1001", method=b"POST"))

        assert refusal(await caller.answer()) == 608
        assert agent.asked == []


@on_a_loop
async def test_an_upload_just_as_large_as_the_limit_passes() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect(limits=SMALL)
        await rig.agent(script=answer_when_complete)
        upload = request(access.host, access.bearer, CHUNKED, method=b"POST") + chunks(1000)
        caller.send(request(access.host, access.bearer, method=b"POST", body=b"x" * 1000))
        caller.send(upload)

        assert [(await caller.answer()).status for _ in range(2)] == [200, 200]


@on_a_loop
async def test_an_upload_that_turns_out_too_large_is_608() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(limits=SMALL), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, CHUNKED, method=b"POST"))
        asked = await agent.next()
        caller.send(chunks(1001)[:-1])
        answer = await caller.answer()

        assert refusal(answer) == 608
        assert answer.get(b"connection") == b"close"
        await until(lambda: asked.reset is Reason.LIMIT)
        assert len(asked.body) <= 1000


@on_a_loop
async def test_an_upload_that_is_too_large_at_once_is_608_and_never_begins() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(limits=SMALL), await rig.agent()
        caller.send(request(access.host, access.bearer, CHUNKED, method=b"POST") + chunks(1001))

        assert refusal(await caller.answer()) == 608
        assert agent.asked == []


@on_a_loop
async def test_an_upload_too_large_after_a_begun_answer_breaks_it_off() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect(limits=SMALL)
        await rig.agent(script=lambda asked: asked.answer(body=b"begun", fin=False))
        caller.send(request(access.host, access.bearer, CHUNKED, method=b"POST"))
        assert (await caller.head()).status == 200
        caller.send(chunks(1001))

        with pytest.raises(BrokenOff):
            await caller.chunks()


# --- downloads ------------------------------------------------------------------------------------


@pytest.mark.provokes(607)
@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 607)])
@on_a_loop
async def test_a_download_over_the_limit_is_607(announced: bool, size: int, status: int) -> None:
    length = [(b"Content-Length", b"%d" % size)] if announced else []

    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect(limits=SMALL)
        await rig.agent(script=lambda asked: asked.answer(headers=length, body=b"x" * size))
        caller.send(request(access.host, access.bearer) * 2)

        assert [(await caller.answer()).status for _ in range(2)] == [status, status]


@on_a_loop
async def test_a_download_that_turns_out_too_large_is_broken_off() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(limits=SMALL), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        asked.answer(body=b"x" * 900, fin=False)
        await settle()
        asked.stream.send(b"x" * 101)

        with pytest.raises(BrokenOff):
            await caller.answer()
        await until(lambda: asked.reset is Reason.LIMIT)


@on_a_loop
async def test_a_websocket_has_no_size() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect(limits=SMALL)
        agent = await rig.agent(script=lambda asked: asked.answer(101, fin=False))
        upgrade = (b"Connection: Upgrade", b"Upgrade: websocket")
        caller.send(request(access.host, access.bearer, *upgrade))
        assert (await caller.answer()).status == 101
        caller.send(b"x" * 5000)
        asked = await agent.next()
        await until(lambda: len(asked.body) == 5000)
        asked.stream.send(b"x" * 5000)

        assert await caller.read(5000) == b"x" * 5000


# --- webcams --------------------------------------------------------------------------------------


def film(asked: Asked) -> None:
    """Answer as a webcam does, with a first frame."""
    kind = [(b"Content-Type", b"Multipart/X-Mixed-Replace; boundary=frame")]
    asked.answer(headers=kind, body=b"frame", fin=False)


async def ask_for_webcam(rig: Rig, access: Access) -> Caller:
    caller = await Caller.connect(rig.port)
    caller.send(request(access.host, access.bearer, target=b"/webcam"))
    return caller


async def watch(rig: Rig, access: Access) -> Caller:
    """Open a webcam stream; its viewer."""
    before = rig.figure("webcam_streams")
    caller = await ask_for_webcam(rig, access)
    await until(lambda: rig.figure("webcam_streams") > before)
    return caller


@pytest.mark.provokes(609)
@on_a_loop
async def test_a_ninth_viewer_at_once_is_609_until_another_leaves() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent(script=film)
        viewers = [await watch(rig, access) for _ in range(DEFAULT_LIMITS.webcam_viewers)]
        assert rig.figure("webcam_streams") == 8
        ninth = await ask_for_webcam(rig, access)
        assert refusal(await ninth.answer()) == 609
        await until(lambda: agent.asked[8].reset is Reason.LIMIT)
        viewers[0].leave()
        await until(lambda: rig.figure("webcam_streams") == 7)
        viewers[0] = await watch(rig, access)

        assert rig.figure("webcam_streams") == 8


@on_a_loop
async def test_viewers_of_one_connection_are_not_counted_for_another() -> None:
    limits = replace(DEFAULT_LIMITS, webcam_viewers=1)
    async with relay() as rig:
        one, two = rig.connect("app-one", limits=limits), rig.connect("app-two", limits=limits)
        await rig.agent(script=film)
        viewers = [await watch(rig, one), await watch(rig, two)]

        assert len(viewers) == rig.figure("webcam_streams") == 2


@pytest.mark.parametrize(
    "how", ["the printer", "the agent", "a revocation", "a reset", "the viewer"]
)
@on_a_loop
async def test_a_viewers_place_is_free_again_however_the_stream_ended(how: str) -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent(script=film)
        viewer = await watch(rig, access)
        assert rig.figure("webcam_streams") == 1
        match how:
            case "the printer":
                agent.asked[0].stream.send(b"", fin=True)
            case "the agent":
                agent.leave()
            case "a revocation":
                await rig.revoke(access)
            case "a reset":
                agent.asked[0].stream.reset(Reason.BROKEN)
            case "the viewer":
                viewer.leave()

        await until(lambda: rig.figure("webcam_streams") == 0)
        assert rig.figure("requests_at_printers") == 0


@on_a_loop
async def test_a_webcam_stream_ends_when_its_time_is_up() -> None:
    limits = replace(DEFAULT_LIMITS, webcam_stream_s=0)
    async with relay() as rig:
        access, agent = rig.connect(limits=limits), await rig.agent(script=film)
        viewer = await ask_for_webcam(rig, access)

        assert (await viewer.answer()).body == b"frame"
        await until(lambda: agent.asked[0].reset is Reason.LIMIT)
        await until(lambda: rig.figure("webcam_streams") == 0)


@on_a_loop
async def test_a_webcam_stream_may_be_larger_than_a_download() -> None:
    async with relay() as rig:
        access, agent = rig.connect(limits=SMALL), await rig.agent(script=film)
        viewer = await watch(rig, access)
        agent.asked[0].stream.send(b"x" * 5000, fin=True)

        assert len((await viewer.answer()).body) == 5005


@on_a_loop
async def test_asking_a_webcam_by_head_takes_no_viewers_place() -> None:
    kind = [(b"Content-Type", b"multipart/x-mixed-replace; boundary=frame")]
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=lambda asked: asked.answer(headers=kind))
        caller.send(request(access.host, access.bearer, method=b"HEAD") * 20)

        for _ in range(20):
            assert (await caller.answer(to_head=True)).status == 200
