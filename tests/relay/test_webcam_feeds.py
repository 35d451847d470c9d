"""Several viewers of one camera: one stream from the printer, and no viewer waits for another."""

from dataclasses import replace

import pytest

from printreach.ports import Topic
from printreach.relay.connection import HIGH_WATER_BYTES
from printreach.relay.webcam_feeds import KEPT_FRAME_BYTES, MAX_FRAME_BYTES
from printreach.rules.connections import DEFAULT_LIMITS
from printreach.wire.errors import Reason
from printreach.wire.heads import Headers
from tests.relay.caller import BrokenOff
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.waiting import until
from tests.relay.webcam import TYPE, Camera, Watcher, frame

KERNEL_BUFFERS = 8 * 1024 * 1024
SMALL_BUFFER = 32 * 1024
BIG = 100_000
"""Digits of a frame; few of them fit between relay and a caller that doesn't read."""


# --- sharing --------------------------------------------------------------------------------------


@on_a_loop
async def test_two_callers_with_the_same_request_watch_one_stream() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for _ in range(2)]
        camera.show(frame(1))

        assert [await one.sees(frame(1)) for one in watchers] == [True, True]
        await camera.is_shared()
        assert [asked.reset for asked in camera.asked] == [None, Reason.CANCELLED]
        assert rig.figure("webcam_streams") == 2


@on_a_loop
async def test_each_has_the_head_that_the_printer_gave_it() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for _ in range(3)]

        assert [one.head.all(b"x-answer") for one in watchers] == [[b"1"], [b"2"], [b"3"]]


@on_a_loop
async def test_a_late_viewer_gets_the_last_picture_at_once_and_goes_on_from_there() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        first = await Watcher.begin(rig, access)
        camera.show(frame(1) + frame(2) + frame(3)[:30])
        assert await first.sees(frame(1) + frame(2) + frame(3)[:30])
        late = await Watcher.begin(rig, access)
        assert await late.sees(frame(2) + frame(3)[:30])
        camera.show(frame(3)[30:])

        assert await late.sees(frame(3)[30:])


@on_a_loop
async def test_a_viewer_who_comes_before_the_first_picture_waits_for_it() -> None:
    camera = Camera(first=b"This is a webcam.\r\n")
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for _ in range(2)]
        camera.show(b"Still.\r\n" + frame(1))

        assert await watchers[0].sees(b"This is a webcam.\r\nStill.\r\n" + frame(1))
        assert await watchers[1].sees(frame(1))


@on_a_loop
async def test_no_large_picture_is_kept_and_a_late_viewer_waits_for_the_next() -> None:
    camera, large = Camera(), frame(1, KEPT_FRAME_BYTES)
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        first = await Watcher.begin(rig, access)
        camera.show(large)
        assert await first.sees(large)
        late = await Watcher.begin(rig, access)
        camera.show(frame(2))

        assert await late.sees(frame(2))


@pytest.mark.parametrize(
    "line", [b"Cookie: session=ada", b"X-Api-Key: of-ada", b"Accept-Language: de"]
)
@on_a_loop
async def test_a_request_with_another_header_line_has_a_stream_of_its_own(line: bytes) -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access), await Watcher.begin(rig, access, line)]

        assert len(camera.open) == len(watchers)


@on_a_loop
async def test_a_request_for_another_target_has_a_stream_of_its_own() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [
            await Watcher.begin(rig, access),
            await Watcher.begin(rig, access, target=b"/webcam?2"),
            await Watcher.begin(rig, access, method=b"POST"),
        ]

        assert len(camera.open) == len(watchers)


@on_a_loop
async def test_connections_share_nothing() -> None:
    camera = Camera()
    async with relay() as rig:
        accesses = [rig.connect("app-one"), rig.connect("app-two")]
        await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for access in accesses]

        assert len(camera.open) == len(watchers)


@on_a_loop
async def test_printers_share_nothing() -> None:
    cameras = [Camera(), Camera()]
    async with relay() as rig:
        access = rig.connect()
        await rig.agent("one", script=cameras[0])
        await rig.agent("two", script=cameras[1])
        one = await Watcher.begin(rig, access)
        rig.connect(printer="two")  # the same name leads elsewhere now
        await rig.notify(Topic.CONNECTION, access.unique_id)
        other = await Watcher.begin(rig, access)
        cameras[0].show(frame(1))
        cameras[1].show(frame(2))

        assert await one.sees(frame(1))
        assert await other.sees(frame(2))


@pytest.mark.parametrize(
    "head",
    [
        [(b"Content-Type", b"multipart/x-mixed-replace")],
        [TYPE, (b"Content-Length", b"100000")],
    ],
)
@on_a_loop
async def test_a_stream_without_a_boundary_or_with_a_length_is_not_shared(head: Headers) -> None:
    camera = Camera(head=head)
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for _ in range(2)]

        assert len(camera.open) == len(watchers)


@on_a_loop
async def test_a_boundary_of_ones_own_makes_a_stream_of_ones_own() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        one = await Watcher.begin(rig, access)
        camera.head = [(b"Content-Type", TYPE[1] + b"2")]
        other = await Watcher.begin(rig, access)

        assert len(camera.open) == len([one, other])


@on_a_loop
async def test_http10_sees_the_same_without_chunks() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        new = await Watcher.begin(rig, access)
        old = await Watcher.begin(rig, access, version=b"HTTP/1.0")
        await camera.is_shared()
        camera.show(frame(1), fin=True)

        assert await new.sees(frame(1))
        assert await new.caller.chunk() == b""
        assert await old.caller.rest() == frame(1)


# --- leaving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaving", [0, 1])
@on_a_loop
async def test_a_viewer_who_leaves_takes_nothing_from_the_other(leaving: int) -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for _ in range(2)]
        watchers.pop(leaving).caller.leave()
        await until(lambda: rig.figure("webcam_streams") == 1)
        camera.show(frame(1))

        assert await watchers[0].sees(frame(1))


@on_a_loop
async def test_the_stream_ends_with_the_last_viewer() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        for watcher in [await Watcher.begin(rig, access) for _ in range(2)]:
            await camera.is_shared()
            watcher.caller.leave()

        await until(lambda: camera.open == [])
        again = await Watcher.begin(rig, access)
        camera.show(frame(1))
        assert await again.sees(frame(1))


@on_a_loop
async def test_a_viewer_who_loses_access_sees_no_more_and_the_other_goes_on() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        grant = await rig.grants.grant(access.unique_id)
        assert grant is not None
        basic = b"Authorization: Basic dXNlcjp0b2tlbi1vZi1hcHAtb25l"
        out, stays = await Watcher.begin(rig, access), await Watcher.begin(rig, access, basic)
        await camera.is_shared()
        rig.grants.put(replace(grant, digests=grant.digests[:1]))  # Basic alone still opens it
        await rig.notify(Topic.CONNECTION, access.unique_id)
        await until(lambda: rig.figure("webcam_streams") == 1)
        camera.show(frame(1))

        assert frame(1) not in await out.caller.rest()
        assert await stays.sees(frame(1))


@on_a_loop
async def test_each_watches_for_as_long_as_its_own_time_allows() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        stays = await Watcher.begin(rig, access)
        rig.connect(limits=replace(DEFAULT_LIMITS, webcam_stream_s=0))
        await rig.notify(Topic.CONNECTION, access.unique_id)
        brief = await Watcher.begin(rig, access)
        assert await brief.caller.chunk() == b""
        camera.show(frame(1))

        assert await stays.sees(frame(1))


@on_a_loop
async def test_the_end_of_the_stream_reaches_all() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for _ in range(2)]
        camera.show(frame(1) + b"-", fin=True)

        for watcher in watchers:
            assert await watcher.sees(frame(1) + b"-")
            assert await watcher.caller.chunk() == b""
        assert rig.figure("webcam_streams") == rig.figure("requests_at_printers") == 0


@pytest.mark.parametrize("how", ["the camera", "the agent"])
@on_a_loop
async def test_a_stream_that_breaks_off_is_seen_broken_by_all(how: str) -> None:
    camera = Camera()
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent(script=camera)
        watchers = [await Watcher.begin(rig, access) for _ in range(2)]
        if how == "the camera":
            camera.asked[0].stream.reset(Reason.BROKEN)
        else:
            agent.leave()

        for watcher in watchers:
            with pytest.raises(BrokenOff):
                await watcher.caller.chunk()
        assert rig.figure("webcam_streams") == 0


# --- slow viewers ---------------------------------------------------------------------------------


async def show_many(camera: Camera, count: int, watcher: Watcher) -> None:
    """Show frames, each after this viewer got the last."""
    for number in range(count):
        camera.show(frame(number, BIG))
        assert await watcher.sees(frame(number, BIG))


@on_a_loop
async def test_a_viewer_who_does_not_read_holds_up_no_other_and_has_little_waiting() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        once = b"Connection: close"
        slow = await Watcher.begin(rig, access, once, receive_buffer=SMALL_BUFFER)
        quick = await Watcher.begin(rig, access)
        await show_many(camera, 100, quick)
        camera.show(b"", fin=True)

        owed = len(await slow.caller.rest())
        assert owed < KERNEL_BUFFERS + HIGH_WATER_BYTES + 2 * len(frame(99, BIG))


@on_a_loop
async def test_a_slow_viewer_misses_whole_pictures() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        slow = await Watcher.begin(rig, access, receive_buffer=SMALL_BUFFER)
        quick = await Watcher.begin(rig, access)
        await show_many(camera, 60, quick)
        camera.show(b"", fin=True)
        seen = b""
        while data := await slow.caller.chunk():
            seen += data
        pictures = seen.split(b"--frame\r\n\r\n")[1:]

        assert len(pictures) < 60
        numbers = [int(picture.partition(b".")[0]) for picture in pictures]
        assert numbers == sorted(set(numbers))
        assert [b"--frame\r\n\r\n" + one for one in pictures] == [frame(n, BIG) for n in numbers]


@on_a_loop
async def test_a_single_viewer_misses_nothing() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        alone = await Watcher.begin(rig, access, receive_buffer=SMALL_BUFFER)
        film = [frame(number, BIG) for number in range(40)]
        for one in film:
            camera.show(one)
        await until(lambda: camera.asked[0].stream.is_holding)

        assert await alone.sees(b"".join(film))


# --- streams that aren't what they say ------------------------------------------------------------


@on_a_loop
async def test_a_viewer_that_waits_for_a_picture_that_never_begins_is_dropped_and_then_served() -> (
    None
):
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        first, second = await Watcher.begin(rig, access), await Watcher.begin(rig, access)
        nothing = b"x" * (MAX_FRAME_BYTES + 1)
        camera.show(nothing)
        assert await first.sees(nothing)
        with pytest.raises(BrokenOff):
            await second.caller.chunk()
        third = await Watcher.begin(rig, access)
        camera.show(b"y")

        assert await first.sees(b"y")
        assert await third.sees(b"y")


@on_a_loop
async def test_a_picture_without_end_does_not_pile_up_for_a_viewer_who_does_not_read() -> None:
    camera = Camera()
    async with relay() as rig:
        access, _ = rig.connect(), await rig.agent(script=camera)
        slow = await Watcher.begin(rig, access, receive_buffer=SMALL_BUFFER)
        quick = await Watcher.begin(rig, access)
        endless = frame(1)[:-2] + b"x" * (MAX_FRAME_BYTES + KERNEL_BUFFERS)
        camera.show(endless)
        assert await quick.sees(endless)

        assert rig.figure("webcam_streams") == 1
        slow.caller.leave()
