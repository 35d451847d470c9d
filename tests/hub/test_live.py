"""Live state: how often printers are asked, who hears of it, and what is said of old readings."""

import asyncio
from datetime import timedelta

from printreach.contract.status import State
from printreach.hub.live import FRESH, LiveStatus
from printreach.hub.readings import NOT_SEEN
from printreach.rules.printers import OwnedPrinter
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.fakes.printer_http import OFFLINE, FakePrinterHttp, status_of

ONE, TWO = OwnedPrinter("one", "ada"), OwnedPrinter("two", "ada")


class Hall:
    """Two printers, and somebody who may watch them."""

    def __init__(self) -> None:
        self.printers = FakePrinterHttp({ONE.printer_id: status_of(State.PRINTING, "vase.gcode")})
        self.clock = FakeClock()
        self.live = LiveStatus(self.printers, self.clock)


@on_a_hasty_loop
async def test_nobody_watching_costs_nothing() -> None:
    hall = Hall()
    await asyncio.sleep(60)

    assert hall.printers.asks.total() == 0
    assert hall.live.latest(ONE) == NOT_SEEN


@on_a_hasty_loop
async def test_a_watched_printer_is_asked_once_a_second_however_many_watch() -> None:
    hall = Hall()
    subscriptions = [hall.live.subscribe([ONE]) for _ in range(50)]
    await asyncio.sleep(9.5)

    assert hall.printers.asks[ONE.printer_id] == 10
    for subscription in subscriptions:
        assert (await subscription.next_readings())[ONE].status == status_of(
            State.PRINTING, "vase.gcode"
        )
    await hall.live.close()


@on_a_hasty_loop
async def test_a_farm_is_asked_less_often_until_somebody_looks_closer() -> None:
    hall = Hall()
    hall.live.subscribe([ONE], every_s=5.0)
    await asyncio.sleep(11.5)
    assert hall.printers.asks[ONE.printer_id] == 3
    closer = hall.live.subscribe([ONE])
    await asyncio.sleep(5.5)
    assert hall.printers.asks[ONE.printer_id] == 9
    closer.close()
    await asyncio.sleep(10)

    assert hall.printers.asks[ONE.printer_id] in (11, 12)
    await hall.live.close()


@on_a_hasty_loop
async def test_asking_ends_with_the_last_watch() -> None:
    hall = Hall()
    first, second = hall.live.subscribe([ONE, TWO]), hall.live.subscribe([ONE])
    await settle()
    first.close()
    assert hall.live.subscribed_count == 1
    second.close()
    asked = hall.printers.asks.total()
    await asyncio.sleep(60)

    assert hall.printers.asks.total() == asked
    assert hall.live.subscribed_count == 0


@on_a_hasty_loop
async def test_closing_a_watch_twice_leaves_the_others_theirs() -> None:
    hall = Hall()
    first, _second = hall.live.subscribe([ONE]), hall.live.subscribe([ONE])
    first.close()
    first.close()

    assert hall.live.subscribed_count == 1
    await hall.live.close()


@on_a_hasty_loop
async def test_a_slow_watcher_is_told_the_newest_alone() -> None:
    hall = Hall()
    subscription = hall.live.subscribe([ONE])
    await asyncio.sleep(3.5)
    hall.printers.statuses[ONE.printer_id] = status_of(State.COMPLETE)
    await asyncio.sleep(1)

    news = await subscription.next_readings()
    assert [reading.status for reading in news.values()] == [status_of(State.COMPLETE)]
    await hall.live.close()


@on_a_hasty_loop
async def test_a_printer_that_is_away_keeps_its_last_reading_with_its_age() -> None:
    hall = Hall()
    subscription = hall.live.subscribe([ONE])
    await subscription.next_readings()
    hall.printers.statuses[ONE.printer_id] = OFFLINE
    hall.clock.advance(timedelta(minutes=5))
    reading = (await subscription.next_readings())[ONE]

    assert reading.refusal == OFFLINE
    assert reading.status == status_of(State.PRINTING, "vase.gcode")
    assert reading.seen_at == NOON
    await hall.live.close()


@on_a_hasty_loop
async def test_a_printer_that_is_away_is_asked_less_often() -> None:
    hall = Hall()
    hall.live.subscribe([TWO])
    await asyncio.sleep(9.5)

    assert hall.printers.asks[TWO.printer_id] == 4
    await hall.live.close()


@on_a_hasty_loop
async def test_an_answer_that_cannot_be_read_is_a_refusal_and_no_end() -> None:
    hall = Hall()
    unreadable = b'{"Status":200,"Result":{"JobStatus":{"State":"dancing"}}}'
    hall.printers.statuses[ONE.printer_id] = unreadable
    subscription = hall.live.subscribe([ONE])
    refused = (await subscription.next_readings())[ONE].refusal
    assert refused is not None
    assert refused.code == 750
    hall.printers.statuses[ONE.printer_id] = status_of()

    assert (await subscription.next_readings())[ONE].refusal is None
    await hall.live.close()


@on_a_hasty_loop
async def test_a_fault_of_ours_does_not_end_a_watch() -> None:
    hall = Hall()
    faults = [ValueError("a fault")]

    def fail_once() -> None:
        if faults:
            raise faults.pop()

    hall.printers.before_answer = fail_once
    subscription = hall.live.subscribe([ONE])

    assert (await subscription.next_readings())[ONE].status is not None
    await hall.live.close()


@on_a_hasty_loop
async def test_pages_that_open_at_once_share_an_ask() -> None:
    hall = Hall()
    await asyncio.gather(*(hall.live.fresh([ONE], 1) for _ in range(20)))
    assert hall.printers.asks[ONE.printer_id] == 1
    await hall.live.fresh([ONE], 1)
    assert hall.printers.asks[ONE.printer_id] == 1
    hall.clock.advance(FRESH + timedelta(seconds=1))
    await hall.live.fresh([ONE], 1)

    assert hall.printers.asks[ONE.printer_id] == 2


@on_a_hasty_loop
async def test_after_an_order_a_printer_is_asked_again_at_once() -> None:
    hall = Hall()
    await hall.live.fresh([ONE], 1)
    hall.printers.statuses[ONE.printer_id] = status_of(State.PAUSED)

    assert (await hall.live.ask_again(ONE, 1)).status == status_of(State.PAUSED)
