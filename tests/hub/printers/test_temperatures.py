"""The temperatures that are charted: those that were read here, and those that agents told of."""

import asyncio
from datetime import timedelta

from printreach.contract.status import State, Temps
from printreach.contract.temperatures import KEPT_S, MAX_READINGS, TemperatureHistory
from printreach.hub.printers.live import LiveStatus
from printreach.hub.printers.readings import (
    GAP,
    INTERVAL,
    MAX_PRINTERS,
    SPAN,
    TemperatureReading,
    Temperatures,
    readings_of,
)
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer_http import FakePrinterHttp, status_of

ONE = OwnedPrinter("1", "ada")


def hotend(kept: Temperatures) -> list[float]:
    return [reading.temps.hotend_actual for reading in kept.readings_since(ONE, NOON - SPAN)]


def history(*ages_s: float) -> TemperatureHistory:
    """An agent's readings: the hotend has a degree for each second of age."""
    nothing = [0.0] * len(ages_s)
    return TemperatureHistory(
        age_sec=list(ages_s),
        bed_actual=nothing,
        bed_target=nothing,
        hotend_actual=list(ages_s),
        hotend_target=nothing,
        chamber_actual=[None] * len(ages_s),
        chamber_target=[None] * len(ages_s),
    )


def test_readings_are_kept_some_seconds_apart_and_come_oldest_first() -> None:
    kept = Temperatures()
    for second in range(21):
        kept.note(ONE, NOON + timedelta(seconds=second), Temps(hotend_actual=second))

    assert hotend(kept) == [0, 10, 20]
    assert len(kept.readings_since(ONE, NOON + INTERVAL)) == 2
    assert kept.readings_since(OwnedPrinter("two", "ada"), NOON) == []


def test_printers_that_nobody_watched_for_long_are_forgotten_first() -> None:
    kept = Temperatures()
    for number in range(MAX_PRINTERS + 1):
        kept.note(OwnedPrinter(str(number), "ada"), NOON, Temps())

    assert kept.readings_since(OwnedPrinter("0", "ada"), NOON) == []
    assert len(kept.readings_since(ONE, NOON)) == 1


def test_a_new_owner_sees_no_temperatures_of_the_former_one() -> None:
    kept = Temperatures()
    kept.note(ONE, NOON, Temps(hotend_actual=200))

    assert kept.readings_since(OwnedPrinter(ONE.printer_id, "bob"), NOON) == []


def test_a_printer_that_is_watched_for_days_keeps_two_hours() -> None:
    kept = Temperatures()
    for minute in range(3 * 24 * 60):
        kept.note(ONE, NOON + timedelta(minutes=minute), Temps())

    assert len(kept.readings_since(ONE, NOON)) <= SPAN / timedelta(minutes=1) + 2


def test_what_the_agent_told_replaces_what_was_read_in_the_same_time() -> None:
    kept = Temperatures()
    kept.note(ONE, NOON - timedelta(seconds=100), Temps(hotend_actual=-1))
    kept.note(ONE, NOON - timedelta(seconds=50), Temps(hotend_actual=-2))
    kept.note(ONE, NOON, Temps(hotend_actual=-3))
    kept.fill(ONE, readings_of(history(80, 60, 20), NOON))

    assert hotend(kept) == [-1, 80, 60, 20, -3]


def test_the_agent_is_asked_again_only_after_a_gap() -> None:
    kept = Temperatures()
    assert not kept.has_gap(ONE)
    kept.note(ONE, NOON, Temps())
    assert kept.has_gap(ONE)
    kept.fill(ONE, [])
    kept.note(ONE, NOON + GAP, Temps())
    assert not kept.has_gap(ONE)
    kept.note(ONE, NOON + 2 * GAP + INTERVAL, Temps())
    assert kept.has_gap(ONE)


def test_an_agents_readings_are_put_in_order_and_into_the_last_two_hours() -> None:
    told = readings_of(history(5, 20, -1, KEPT_S + 1), NOON)

    assert [reading.at for reading in told] == [
        NOON - timedelta(seconds=20),
        NOON - timedelta(seconds=5),
    ]


@on_a_hasty_loop
async def test_the_agent_is_asked_once_for_the_time_when_nobody_watched() -> None:
    printers = FakePrinterHttp({ONE.printer_id: status_of(State.IDLE)})
    printers.answers["/temperatures"] = history(60, 30)
    live = LiveStatus(printers, FakeClock())
    await live.fresh([ONE], 1.0)
    await asyncio.gather(*(live.load_temperatures(ONE, 1.0) for _ in range(5)))
    await live.load_temperatures(ONE, 1.0)

    assert hotend(live.temperatures) == [60, 30, 0]
    assert printers.questions.count("/temperatures") == 1
    await live.close()


@on_a_hasty_loop
async def test_an_agent_that_knows_no_temperatures_is_not_asked_again_and_again() -> None:
    for answer in (
        PrinterRefusal(754, "There is no such command."),
        b'{"Status":200,"Result":{"AgeSec":"none"}}',
        history(*range(MAX_READINGS + 1)),
    ):
        printers = FakePrinterHttp({ONE.printer_id: status_of(State.IDLE)})
        printers.answers["/temperatures"] = answer
        live = LiveStatus(printers, FakeClock())
        await live.fresh([ONE], 1.0)
        for _ in range(3):
            await live.load_temperatures(ONE, 1.0)

        assert live.temperatures.readings_since(ONE, NOON) == [TemperatureReading(NOON, Temps())]
        assert printers.questions.count("/temperatures") == 1
        await live.close()


@on_a_hasty_loop
async def test_a_printer_that_is_offline_is_not_asked() -> None:
    printers = FakePrinterHttp()
    live = LiveStatus(printers, FakeClock())
    await live.fresh([ONE], 1.0)
    await live.load_temperatures(ONE, 1.0)

    assert printers.questions == []
    await live.close()
