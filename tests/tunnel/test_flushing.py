"""Output is gathered once per turn of the loop, up to a chunk's worth or MAX_GATHERED frames."""

from printreach.tunnel.tunnel import CALM_CHUNKS, MAX_GATHERED
from printreach.wire.frames import CHUNK_BYTES, MAX_MESSAGE_BYTES, WINDOW_BYTES
from printreach.wire.heads import MAX_HEAD_BYTES
from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.tunnel.ends import GET_PAGE, OK, MemoryEnds, greeted

LARGE_HEAD = GET_PAGE + b"X-Large: %b\r\n" % (b"x" * (MAX_HEAD_BYTES - len(GET_PAGE) - 11))


@on_a_hasty_loop
async def test_output_of_one_turn_of_the_loop_leaves_as_one_message() -> None:
    ends = await greeted()
    before = ends.hub_link.messages

    for _ in range(MAX_GATHERED - 2):
        ends.hub.open()
    ends.hub.tunnel.message(b"and this")
    assert ends.hub_link.messages == before
    await settle()

    assert ends.hub_link.messages == before + 1
    assert len(ends.agent.served) == MAX_GATHERED - 2


@on_a_hasty_loop
async def test_the_other_end_begins_while_this_one_has_more_to_say() -> None:
    ends = await greeted()
    before = ends.hub_link.messages

    for _ in range(2 * MAX_GATHERED):
        ends.hub.open()

    assert ends.hub_link.messages == before + 2
    await settle()
    assert len(ends.agent.served) == 2 * MAX_GATHERED


@on_a_hasty_loop
async def test_a_chunk_leaves_at_once() -> None:
    ends = await greeted()
    asked = ends.hub.open(fin=False)
    await settle()
    before = ends.hub_link.messages

    asked.stream.send(b"." * CHUNK_BYTES)

    assert ends.hub_link.messages == before + 1


@on_a_hasty_loop
async def test_a_few_answers_leave_when_a_chunks_worth_has_gathered() -> None:
    ends = await greeted()
    asked = [ends.hub.open() for _ in range(6)]
    await settle()
    before = ends.agent_link.messages

    for served in ends.agent.served:
        served.stream.respond(OK, b"." * (CHUNK_BYTES // 4), fin=True)
    await settle()

    assert ends.agent_link.messages == before + 2
    assert all(listener.body == b"." * (CHUNK_BYTES // 4) for listener in asked)


@on_a_hasty_loop
async def test_more_than_a_message_can_hold_leaves_in_several() -> None:
    ends = await greeted()
    count = 2 * MAX_MESSAGE_BYTES // MAX_HEAD_BYTES

    for _ in range(count):
        ends.hub.open(head=LARGE_HEAD)
    await settle()

    assert len(ends.agent.served) == count
    assert ends.agent.closings == []


@on_a_hasty_loop
async def test_nothing_is_sent_when_there_is_nothing_to_say() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await settle()
    before = ends.hub_link.messages

    asked.stream.taken(0)
    ends.hub.tunnel.flush_soon()
    await settle()

    assert ends.hub_link.messages == before


@on_a_hasty_loop
async def test_a_body_that_is_held_back_leaves_chunk_by_chunk_at_first() -> None:
    ends = await greeted()
    ends.hub.open()
    await settle()
    before = ends.agent_link.messages

    ends.agent.served[0].stream.respond(OK, b"." * WINDOW_BYTES)

    assert ends.agent_link.messages == before + WINDOW_BYTES // CHUNK_BYTES


@on_a_hasty_loop
async def test_over_a_link_that_stays_free_all_that_a_stream_may_send_is_one_message() -> None:
    ends = await calm_ends()
    asked = ends.hub.open()
    await settle()
    before = ends.agent_link.messages

    ends.agent.served[-1].stream.respond(OK, b"." * WINDOW_BYTES)

    assert ends.agent_link.messages == before + 1
    await settle()
    assert asked.pieces == [b"", b"." * WINDOW_BYTES]


@on_a_hasty_loop
async def test_a_link_that_was_full_gets_chunks_by_themselves_again() -> None:
    ends = await calm_ends()
    ends.agent_link.congest()
    ends.agent_link.clear()
    ends.hub.open()
    await settle()
    before = ends.agent_link.messages

    ends.agent.served[-1].stream.respond(OK, b"." * WINDOW_BYTES)

    assert ends.agent_link.messages == before + WINDOW_BYTES // CHUNK_BYTES


async def calm_ends() -> MemoryEnds:
    """Two ends, the agent's link known to take more than is sent."""
    ends = await greeted()
    for _ in range(CALM_CHUNKS * CHUNK_BYTES // WINDOW_BYTES):
        ends.hub.open()
        await settle()
        ends.agent.served[-1].stream.respond(OK, b"." * WINDOW_BYTES, fin=True)
        await settle()
    return ends
