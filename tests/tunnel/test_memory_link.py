"""The link in memory behaves like a socket."""

from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.fakes.memory_link import memory_link_pair
from tests.tunnel.raw_websocket import RecordingReceiver


@on_a_hasty_loop
async def test_messages_arrive_later_and_in_order() -> None:
    here, there = memory_link_pair()
    receiver = RecordingReceiver()
    there.start(receiver)

    here.send(b"one")
    here.send(b"two")
    assert receiver.messages == []
    await settle()

    assert receiver.messages == [b"one", b"two"]


@on_a_hasty_loop
async def test_messages_wait_for_the_start() -> None:
    here, there = memory_link_pair()
    here.send(b"early")
    await settle()
    receiver = RecordingReceiver()

    there.start(receiver)

    assert receiver.messages == [b"early"]


@on_a_hasty_loop
async def test_a_close_sends_queued_messages_and_is_reported_once_at_each_end() -> None:
    here, there = memory_link_pair()
    near, far = RecordingReceiver(), RecordingReceiver()
    here.start(near)
    there.start(far)

    here.send(b"last words")
    here.close()
    here.abort()
    await settle()

    assert near.losses == ["aborted"]
    assert far.losses == ["the other end closed"]
    assert far.messages == [b"last words"]


@on_a_hasty_loop
async def test_a_loss_before_the_start_is_reported_at_the_start() -> None:
    here, there = memory_link_pair()
    here.abort()
    await settle()
    receiver = RecordingReceiver()

    there.start(receiver)

    assert receiver.losses == ["the other end closed"]
