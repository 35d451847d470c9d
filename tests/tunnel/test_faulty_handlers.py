"""An exception of our own ends the stream or tunnel it is about, and nothing else."""

from collections.abc import Callable

import pytest

from printreach.tunnel.stream import Stream
from printreach.wire.errors import Reason
from printreach.wire.events import StreamOpened
from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.tunnel.ends import OK, End, Ending, Listener, MemoryEnds, greeted

FAULT = Ending(Reason.BROKEN, "a fault at this end")


class Mistake(Exception):
    pass


def make_a_mistake(*_: object) -> None:
    raise Mistake


async def two_streams() -> tuple[MemoryEnds, Listener, Listener]:
    """The first has a handler with a fault, the second none."""
    ends = await greeted()
    faulty, sound = ends.hub.open(fin=False), ends.hub.open()
    await settle()
    faulty.then = make_a_mistake
    return ends, faulty, sound


def interim(stream: Stream) -> None:
    stream.interim(b"103 Early Hints\r\n")


def head(stream: Stream) -> None:
    stream.respond(OK)


def reset(stream: Stream) -> None:
    stream.reset(Reason.REFUSED)


@pytest.mark.parametrize("happen", [interim, head, reset])
def test_a_fault_in_a_handler_ends_its_stream_alone(
    happen: Callable[[Stream], None], caplog: pytest.LogCaptureFixture
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        ends, faulty, sound = await two_streams()
        first, second = ends.agent.served

        happen(first.stream)
        second.stream.respond(OK, b"hello", fin=True)
        await settle()

        assert sound.body == b"hello"
        assert not faulty.stream.is_open
        assert not first.stream.is_open
        assert ends.hub.closings == ends.agent.closings == []
        assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)

    body()
    assert "failed unexpectedly" in caplog.text
    assert "Mistake" in caplog.text


@on_a_hasty_loop
async def test_both_handlers_of_a_faulty_stream_are_told_that_it_is_over() -> None:
    ends, faulty, _ = await two_streams()

    ends.agent.served[0].stream.respond(OK, b"hello")
    await settle()

    assert faulty.endings == [FAULT]
    assert ends.agent.served[0].endings == [FAULT]


@on_a_hasty_loop
async def test_a_fault_of_a_handler_at_its_turn_does_not_cost_others_theirs() -> None:
    ends = await greeted()
    asked = [ends.hub.open(), ends.hub.open()]
    await settle()
    ends.agent_link.congest()
    for served in ends.agent.served:
        served.stream.respond(OK)
        served.stream.send(b"held back")
    ends.agent.served[0].then = make_a_mistake

    ends.agent_link.clear()
    await settle()

    assert asked[0].endings == [FAULT]
    assert asked[1].body == b"held back"
    assert ends.agent.served[1].writable == 1


@on_a_hasty_loop
async def test_a_fault_at_the_end_of_one_stream_does_not_keep_others_in_the_dark() -> None:
    ends, faulty, sound = await two_streams()

    ends.hub_link.abort()
    await settle()

    assert len(faulty.endings) == len(sound.endings) == 1
    assert ends.hub.closings == [(None, "aborted")]


@on_a_hasty_loop
async def test_a_fault_while_a_stream_is_accepted_refuses_that_stream() -> None:
    ends = await greeted()

    def refuse_posts(_stream: Stream, opened: StreamOpened) -> None:
        if opened.head.startswith(b"POST"):
            raise Mistake

    ends.agent.serve = refuse_posts
    post, get = ends.hub.open(head=b"POST / \r\n"), ends.hub.open()
    await settle()

    assert post.endings == [FAULT]
    assert get.stream.is_open


@pytest.mark.parametrize("name", ["on_tunnel_message", "on_tunnel_draining", "on_tunnel_ready"])
def test_a_fault_of_the_owner_ends_the_tunnel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        monkeypatch.setattr(End, name, make_a_mistake)
        ends = MemoryEnds()
        await ends.greet()
        ends.agent.tunnel.message(b"hello")
        ends.agent.tunnel.drain()
        await settle()

        assert ends.hub.closings == [(None, "a fault at this end")]

    body()
