"""Live state: how often printers are asked, who hears of it, and what is said of old readings."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from printreach.contract.status import State
from printreach.hub.printers.live import AWAITED_EVERY_S, FRESH, MAX_AT_ONCE, LiveStatus
from printreach.hub.printers.readings import NOT_SEEN, Reading
from printreach.ports.printer_http import NO_QUERY, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.fakes.printer_http import OFFLINE, FakePrinterHttp, status_of

ONE, TWO = OwnedPrinter("one", "ada"), OwnedPrinter("two", "ada")


class SlowPrinterHttp(FakePrinterHttp):
    """A printer that answers after a second with the state in which it was asked."""

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        answer = await super().ask(printer, command, query, despite_lock=despite_lock)
        await asyncio.sleep(1)
        return answer


class SilentPrinterHttp(FakePrinterHttp):
    """A printer that never answers."""

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        await asyncio.sleep(3600)
        return await super().ask(printer, command, query, despite_lock=despite_lock)


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


@on_a_hasty_loop
async def test_the_answer_after_an_order_is_to_a_request_that_began_after_it() -> None:
    printers = SlowPrinterHttp({ONE.printer_id: status_of(State.PRINTING)})
    live = LiveStatus(printers, FakeClock())
    subscription = live.subscribe([ONE])
    await asyncio.sleep(0.5)
    assert printers.asks[ONE.printer_id] == 1
    printers.statuses[ONE.printer_id] = status_of(State.PAUSED)

    assert (await live.ask_again(ONE, 5)).status == status_of(State.PAUSED)
    subscription.close()
    await live.close()


@on_a_hasty_loop
async def test_a_printer_is_asked_until_it_shows_what_is_awaited() -> None:
    hall = Hall()
    loop = asyncio.get_running_loop()
    began_at = loop.time()
    loop.call_later(1.1, hall.printers.statuses.update, {ONE.printer_id: status_of(State.PAUSED)})

    reading = await hall.live.ask_until(ONE, is_paused, 3)
    assert reading.status == status_of(State.PAUSED)
    assert 1.1 <= loop.time() - began_at <= 1.1 + AWAITED_EVERY_S


@on_a_hasty_loop
async def test_what_never_comes_is_awaited_no_longer_than_was_said() -> None:
    hall = Hall()
    loop = asyncio.get_running_loop()
    began_at = loop.time()

    reading = await hall.live.ask_until(ONE, is_paused, 3)
    assert reading.status == status_of(State.PRINTING, "vase.gcode")
    assert loop.time() - began_at == 3


def is_paused(reading: Reading) -> bool:
    return reading.status is not None and reading.status.job_status.state is State.PAUSED


@on_a_hasty_loop
async def test_an_account_whose_printers_all_hang_delays_anothers_by_one_turn() -> None:
    http = HangingPrinters()
    live = LiveStatus(http, FakeClock())
    many = [OwnedPrinter(f"{number:032}", "crowd") for number in range(4 * MAX_AT_ONCE)]
    asking = asyncio.create_task(live.fresh(many, 60.0))
    await settle()
    other = asyncio.create_task(live.fresh([OwnedPrinter("z" * 32, "alone")], 60.0))
    await settle()
    assert "alone" not in http.asked
    http.answer_one()
    await settle()

    assert "alone" in http.asked
    for task in (asking, other):
        task.cancel()
    await live.close()


class HangingPrinters(FakePrinterHttp):
    """Its printers answer when a test lets them. asked: the accounts of all that were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self._held: list[asyncio.Future[None]] = []

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        self.asked.append(printer.account_id)
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held.append(held)
        await held
        return PrinterRefusal(602, "away")

    def answer_one(self) -> None:
        self._held.pop(0).set_result(None)


@on_a_hasty_loop
async def test_a_printer_that_never_answers_holds_a_page_up_once() -> None:
    loop = asyncio.get_running_loop()
    live = LiveStatus(SilentPrinterHttp(), FakeClock())
    waits = []
    for _ in range(3):
        began_at = loop.time()
        await live.fresh([ONE], 1.5)
        waits.append(round(loop.time() - began_at, 1))
    await live.close()

    assert waits == [1.5, 0, 0]
