"""While the link is congested, streams take turns: a page is served beside a download."""

import asyncio
from collections.abc import Callable

from printreach.tunnel.stream import Stream
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.frames import CHUNK_BYTES, HEADER, HEADER_BYTES, WINDOW_BYTES, Kind, frame
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.tunnel.ends import OK, Ends, Listener, MemoryEnds, greeted
from tests.tunnel.paced_link import PacedLink, paced_link_pair

UPLINK_BYTES_PER_S = 20e6 / 8  # 20 Mbit/s, a home's
CHUNK_S = CHUNK_BYTES / UPLINK_BYTES_PER_S
DOWNLOAD_BYTES = 5_000_000
PAGE_BYTES = 40_000


class Source(Listener):
    """Answers with that many bytes, a chunk whenever it may send."""

    def __init__(self, stream: Stream, size: int) -> None:
        super().__init__()
        self.stream = stream
        self.left = size
        stream.respond(OK)
        self.on_writable()

    def on_writable(self) -> None:
        super().on_writable()
        while self.left:
            size = min(self.left, CHUNK_BYTES)
            self.left -= size
            if not self.stream.send(b"." * size, fin=not self.left):
                return


def answers_of(*sizes: int) -> Callable[[Stream, StreamOpened], None]:
    """Serve the first stream with the first size, and so on."""
    left = list(sizes)

    def serve(stream: Stream, _opened: StreamOpened) -> None:
        stream.handler = Source(stream, left.pop(0))

    return serve


async def whole(listener: Listener) -> float:
    """Return when the answer is complete, by the loop's clock."""
    await listener.is_whole.wait()
    return hasty_loop().time()


async def paced(*sizes: int) -> tuple[Ends, PacedLink]:
    """Two ends, and the agent's link; it serves answers of these sizes."""
    hub_link, agent_link = paced_link_pair(bytes_per_s=UPLINK_BYTES_PER_S)
    ends = Ends(hub_link, agent_link)
    ends.agent.serve = answers_of(*sizes)
    ends.hub.tunnel.start()
    ends.agent.tunnel.start()
    await asyncio.sleep(0.01)
    return ends, agent_link


@on_a_hasty_loop
async def test_a_page_beside_a_download_waits_for_a_few_chunks_only() -> None:
    ends, _ = await paced(DOWNLOAD_BYTES, PAGE_BYTES)
    download = ends.hub.open()
    await asyncio.sleep(0.5)
    asked_at = hasty_loop().time()
    page = ends.hub.open()

    assert await whole(page) - asked_at < 4 * CHUNK_S
    assert not download.fins


@on_a_hasty_loop
async def test_a_large_answer_begun_beside_a_download_gets_half_of_the_link() -> None:
    ends, _ = await paced(DOWNLOAD_BYTES, DOWNLOAD_BYTES)
    first = ends.hub.open()
    await asyncio.sleep(0.5)
    begun = len(first.body)
    second = ends.hub.open()
    await asyncio.sleep(1.0)

    assert abs((len(first.body) - begun) - len(second.body)) <= 4 * CHUNK_BYTES
    assert len(second.body) > 10 * CHUNK_BYTES


@on_a_hasty_loop
async def test_the_link_is_kept_busy_and_its_buffer_small() -> None:
    ends, agent_link = await paced(DOWNLOAD_BYTES)
    began_at = hasty_loop().time()

    took_s = await whole(ends.hub.open()) - began_at

    assert took_s < 1.05 * DOWNLOAD_BYTES / UPLINK_BYTES_PER_S
    assert agent_link.largest_size < 3 * CHUNK_BYTES


async def congested(*sizes: int) -> tuple[MemoryEnds, list[Listener]]:
    """Two ends whose agent holds answers of these sizes, since its link is congested."""
    ends = await greeted()
    ends.agent.serve = answers_of(*sizes)
    ends.agent_link.congest()
    asked = [ends.hub.open() for _ in sizes]
    await settle()
    return ends, asked


def order_of_pieces(asked: list[Listener]) -> Callable[[], list[int]]:
    """Return the stream of each piece that came since the call."""
    arrivals: list[Listener] = []
    for listener in asked:
        listener.arrivals = arrivals
    return lambda: [asked.index(listener) for listener in arrivals]


@on_a_hasty_loop
async def test_nothing_of_a_body_is_sent_while_the_link_is_congested() -> None:
    ends, asked = await congested(1000, 2 * CHUNK_BYTES)

    assert [listener.body for listener in asked] == [b"", b""]

    ends.agent_link.clear()
    await settle()
    assert [len(listener.body) for listener in asked] == [1000, 2 * CHUNK_BYTES]
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_a_stream_that_sends_again_at_its_turn_goes_after_those_that_wait() -> None:
    ends, asked = await congested(*[3 * CHUNK_BYTES] * 3)
    order = order_of_pieces(asked)

    ends.agent_link.clear()
    await settle()

    assert order() == [0, 1, 2] * 3


@on_a_hasty_loop
async def test_turns_stop_when_the_link_is_full_again_and_go_on_with_the_next() -> None:
    ends, asked = await congested(*[2 * CHUNK_BYTES] * 3)
    order = order_of_pieces(asked)
    send = ends.agent_link.send

    def send_and_be_full(message: bytes) -> None:
        send(message)
        ends.agent_link.congest()

    ends.agent_link.send = send_and_be_full  # type: ignore[method-assign]  # a narrow link
    seen = []
    for _ in range(7):
        ends.agent_link.clear()
        await settle()
        seen.append(len(order()))

    assert seen == [0, 1, 2, 3, 4, 5, 6]  # the first time the heads go out
    assert order() == [0, 1, 2] * 2


@on_a_hasty_loop
async def test_a_stream_without_credit_leaves_its_turn_to_others() -> None:
    ends = await greeted()
    ends.agent.serve = answers_of(2 * WINDOW_BYTES, 1000)
    slow, quick = ends.hub.open(takes=False), ends.hub.open()
    ends.agent_link.congest()
    await settle()

    ends.agent_link.clear()
    await settle()

    assert quick.fins == 1
    assert len(slow.body) == WINDOW_BYTES
    slow.take()
    await settle()
    assert slow.fins == 1


@on_a_hasty_loop
async def test_credit_that_comes_while_the_link_is_congested_is_used_when_it_is_clear() -> None:
    ends = await greeted()
    ends.agent.serve = answers_of(WINDOW_BYTES + 1000)
    slow = ends.hub.open(takes=False)
    await settle()
    ends.agent_link.congest()
    slow.take()
    await settle()
    assert len(slow.body) == WINDOW_BYTES

    ends.agent_link.clear()
    await settle()

    assert slow.fins == 1


@on_a_hasty_loop
async def test_a_stream_may_be_reset_at_the_turn_of_another() -> None:
    ends, asked = await congested(1000, 1000)
    first, second = (stream.handler for stream in ends.agent.tunnel._streams.values())
    assert isinstance(first, Source)
    assert isinstance(second, Source)
    first.then = lambda: second.stream.reset(Reason.BROKEN)

    ends.agent_link.clear()
    await settle()

    assert asked[0].fins == 1
    assert asked[1].body == b""
    assert [ending.reason for ending in asked[1].endings] == [Reason.BROKEN]


@on_a_hasty_loop
async def test_the_tunnel_may_be_closed_at_the_turn_of_a_stream() -> None:
    ends, _ = await congested(1000, 1000)
    first = next(iter(ends.agent.tunnel._streams.values())).handler
    assert isinstance(first, Source)
    first.then = lambda: ends.agent.tunnel.close(CloseCode.NORMAL)

    ends.agent_link.clear()
    await settle()

    assert ends.hub.closings == [(CloseCode.NORMAL, "")]


@on_a_hasty_loop
async def test_pings_of_an_end_that_does_not_read_get_one_pong() -> None:
    ends = await greeted()
    sent: list[bytes] = []
    ends.hub_link.send = sent.append  # type: ignore[method-assign,assignment]  # its buffer
    ends.hub_link.congest()
    for number in range(1000):
        ends.agent_link.send(frame(Kind.PING, 0, number.to_bytes(8, "big")))
        await settle()
    assert sent == []

    ends.hub_link.clear()

    (message,) = sent
    assert len(message) == HEADER_BYTES + 8
    assert HEADER.unpack_from(message)[2] == Kind.PONG
