"""One stream: heads, bodies, credit held back and resumed, ends."""

import pytest

from printreach.tunnel.stream import Stream
from printreach.wire.errors import Reason
from printreach.wire.events import StreamOpened
from printreach.wire.frames import CHUNK_BYTES, WINDOW_BYTES
from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.tunnel.ends import OK, Ending, greeted

PATTERN = bytes(range(251))


def body_of(size: int) -> bytes:
    return (PATTERN * (size // len(PATTERN) + 1))[:size]


@on_a_hasty_loop
async def test_a_request_and_its_answer_travel_whole() -> None:
    ends = await greeted()
    asked = ends.hub.open(b"name=", fin=False)
    asked.stream.send(b"value", fin=True)
    await settle()
    served = ends.agent.served[0]
    served.stream.interim(b"103 Early Hints\r\n")
    served.stream.respond(OK, b"hel")
    served.stream.send(b"lo", fin=True)
    await settle()

    assert served.body == b"name=value"
    assert asked.interims == [b"103 Early Hints\r\n"]
    assert asked.heads == [OK]
    assert asked.body == b"hello"
    assert (served.fins, asked.fins) == (1, 1)


@on_a_hasty_loop
async def test_each_end_gets_the_capabilities_of_the_other() -> None:
    ends = await greeted()

    assert ends.hub.capabilities == [frozenset({"agent"})]
    assert ends.agent.capabilities == [frozenset({"hub"})]


@on_a_hasty_loop
async def test_a_stream_that_ended_both_ways_is_forgotten_at_both_ends() -> None:
    ends = await greeted()
    ends.hub.open()
    await settle()
    ends.agent.served[0].stream.respond(OK, b"hello", fin=True)
    await settle()

    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_a_stream_that_has_ended_lets_go_of_its_handler() -> None:
    ends = await greeted()

    asked = ends.hub.open()
    await settle()
    (served,) = ends.agent.served
    served.stream.respond(OK, b"hello", fin=True)
    await settle()

    assert asked.body == b"hello"
    assert (asked.stream.handler, served.stream.handler) == (None, None)


@on_a_hasty_loop
async def test_an_answer_larger_than_a_chunk_goes_out_in_one_call_and_is_forgotten() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await settle()
    body = body_of(3 * CHUNK_BYTES + 5)

    assert ends.agent.served[0].stream.respond(OK, body, fin=True)
    await settle()

    assert asked.body == body
    assert asked.fins == 1
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_an_upload_larger_than_a_chunk_goes_out_in_one_call() -> None:
    ends = await greeted()
    asked = ends.hub.open(fin=False)
    body = body_of(2 * CHUNK_BYTES)

    assert asked.stream.send(body, fin=True)
    await settle()

    assert ends.agent.served[0].body == body
    assert ends.agent.served[0].fins == 1


@on_a_hasty_loop
async def test_an_answer_beyond_the_credit_waits_until_the_other_end_has_taken_some() -> None:
    ends = await greeted()
    asked = ends.hub.open(takes=False)
    await settle()
    served = ends.agent.served[0]
    body = body_of(WINDOW_BYTES + 1000)

    assert not served.stream.respond(OK, body, fin=True)
    await settle()
    assert asked.body == body[:WINDOW_BYTES]
    assert served.stream.is_holding
    assert served.writable == 0

    asked.take()
    await settle()
    assert asked.body == body
    assert asked.fins == 1
    assert served.writable == 1
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_sends_after_held_bytes_keep_their_order() -> None:
    ends = await greeted()
    asked = ends.hub.open(takes=False)
    await settle()
    served = ends.agent.served[0]
    served.stream.respond(OK, body_of(WINDOW_BYTES))

    assert not served.stream.send(b"one ")
    assert not served.stream.send(b"two ")
    assert not served.stream.send(b"three", fin=True)
    asked.take()
    await settle()

    assert asked.body == body_of(WINDOW_BYTES) + b"one two three"
    assert asked.fins == 1


@on_a_hasty_loop
async def test_a_slow_reader_holds_up_its_own_stream_alone() -> None:
    ends = await greeted()
    slow, quick = ends.hub.open(takes=False), ends.hub.open()
    await settle()
    slow_served, quick_served = ends.agent.served
    slow_served.stream.respond(OK, body_of(2 * WINDOW_BYTES), fin=True)

    assert quick_served.stream.respond(OK, b"page", fin=True)
    await settle()

    assert quick.body == b"page"
    assert len(slow.body) == WINDOW_BYTES


@on_a_hasty_loop
async def test_an_empty_end_is_held_while_the_link_is_congested_and_then_sent() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await settle()
    served = ends.agent.served[0]
    served.stream.respond(OK, b"all")
    ends.agent_link.congest()

    assert not served.stream.send(b"", fin=True)
    await settle()
    assert asked.fins == 0

    ends.agent_link.clear()
    await settle()
    assert asked.fins == 1
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_a_reset_reaches_the_other_end_and_silences_this_one() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await settle()

    ends.agent.served[0].stream.reset(Reason.UNREACHABLE, "The printer is off.")
    await settle()

    assert asked.endings == [Ending(Reason.UNREACHABLE, "The printer is off.")]
    assert ends.agent.served[0].endings == []
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_bytes_held_back_at_a_reset_are_never_sent() -> None:
    ends = await greeted()
    asked = ends.hub.open(takes=False)
    await settle()
    served = ends.agent.served[0]
    served.stream.respond(OK, body_of(2 * WINDOW_BYTES), fin=True)
    await settle()

    asked.stream.reset(Reason.CANCELLED)
    await settle()

    assert served.endings == [Ending(Reason.CANCELLED, "")]
    assert served.writable == 0
    assert len(asked.body) == WINDOW_BYTES
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_a_reset_while_the_link_is_congested_leaves_no_turn_waiting() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await settle()
    served = ends.agent.served[0]
    served.stream.respond(OK)
    ends.agent_link.congest()
    served.stream.send(b"never to be seen", fin=True)

    served.stream.reset(Reason.BROKEN)
    ends.agent_link.clear()
    await settle()

    assert asked.body == b""
    assert [ending.reason for ending in asked.endings] == [Reason.BROKEN]


@on_a_hasty_loop
async def test_bytes_sent_on_a_stream_that_has_ended_are_dropped() -> None:
    ends = await greeted()
    ends.hub.open()
    await settle()
    stream = ends.agent.served[0].stream
    stream.respond(OK)
    stream.reset(Reason.BROKEN)

    assert stream.send(b"too late")
    assert stream.send(b"", fin=True)
    assert stream.respond(OK, b"too late")
    stream.interim(b"103 Early Hints\r\n")
    stream.taken(1)
    assert not stream.is_holding


@on_a_hasty_loop
async def test_a_stream_that_is_opened_and_reset_in_one_breath_is_never_served() -> None:
    ends = await greeted()
    answered: list[bytes] = []

    def answer_at_once(stream: Stream, opened: StreamOpened) -> None:
        answered.append(opened.head)
        stream.respond(OK, b"hello", fin=True)

    ends.agent.serve = answer_at_once
    ends.hub.open().stream.reset(Reason.CANCELLED)
    await settle()

    assert answered == []
    assert ends.agent.closings == []
    assert ends.agent.stream_count == 0


@on_a_hasty_loop
async def test_an_upload_that_is_no_longer_wanted_is_drained() -> None:
    ends = await greeted()

    def answer_and_leave(stream: Stream, _opened: StreamOpened) -> None:
        stream.respond(OK, b"no, thanks", fin=True)
        stream.handler = None

    ends.agent.serve = answer_and_leave
    asked = ends.hub.open(fin=False)
    asked.stream.send(body_of(3 * WINDOW_BYTES), fin=True)
    await settle()

    assert not asked.stream.is_holding
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_a_request_in_one_message_is_delivered_to_its_end_though_answered_at_once() -> None:
    ends = await greeted()

    def answer_at_once(stream: Stream, _opened: StreamOpened) -> None:
        stream.respond(OK, fin=True)

    ends.agent.serve = answer_at_once
    asked = ends.hub.open(fin=False)
    asked.stream.send(b"all of it", fin=True)
    await settle()

    assert ends.agent.served[0].body == b"all of it"
    assert ends.agent.served[0].fins == 1
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_no_sliver_is_sent_where_more_is_held_than_there_is_credit_for() -> None:
    ends = await greeted()
    asked = ends.hub.open(takes=False)
    await settle()
    served = ends.agent.served[0]
    body = body_of(WINDOW_BYTES + CHUNK_BYTES)

    served.stream.respond(OK, body[: -CHUNK_BYTES - 1000])
    served.stream.send(body[-CHUNK_BYTES - 1000 :], fin=True)
    await settle()
    assert asked.body == body[: WINDOW_BYTES - 1000]

    asked.take()
    await settle()
    assert asked.body == body
    assert asked.fins == 1


@on_a_hasty_loop
async def test_the_last_of_a_body_needs_no_more_credit_than_it_has_bytes() -> None:
    ends = await greeted()
    asked = ends.hub.open(takes=False)
    await settle()
    body = body_of(WINDOW_BYTES)
    served = ends.agent.served[0]

    served.stream.respond(OK, body[:40_000])
    served.stream.send(body[40_000:], fin=True)  # three chunks, and less than half of one
    await settle()

    assert asked.body == body
    assert asked.fins == 1


@pytest.mark.parametrize("taken", [1000, CHUNK_BYTES // 4, CHUNK_BYTES])
@on_a_hasty_loop
async def test_the_narrowest_window_lets_a_body_through(taken: int) -> None:
    ends = await greeted(hub_window=CHUNK_BYTES)
    asked = ends.hub.open(takes=False)
    await settle()
    body = body_of(10 * CHUNK_BYTES + 5)

    ends.agent.served[0].stream.respond(OK, body, fin=True)
    await settle()
    while asked.untaken:
        size = min(taken, asked.untaken)
        asked.untaken -= size
        asked.stream.taken(size)
        await settle()

    assert asked.body == body
    assert asked.fins == 1
