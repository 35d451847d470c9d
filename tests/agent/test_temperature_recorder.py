"""Temperatures that the agent records, whether anybody looks or not."""

import asyncio
from dataclasses import replace
from math import inf, nan

from printreach.agent.temperature_recorder import TemperatureRecorder
from printreach.contract.commands import CommandStatus
from printreach.contract.status import CurrentPrint, JobStatus, State, Temps
from printreach.contract.temperatures import INTERVAL_S, KEPT_S
from printreach.printers.port import NOT_YET
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import command_calls


def warm(printer: ScriptedPrinter, temps: Temps) -> None:
    job = JobStatus(state=State.IDLE, current_print=CurrentPrint(temps=temps))
    printer.view = replace(printer.view, job=job, trouble=None)


@on_a_hasty_loop
async def test_two_hours_are_kept() -> None:
    printer = ScriptedPrinter()
    recorder = TemperatureRecorder(printer, hasty_loop().time)
    running = asyncio.create_task(recorder.run())
    warm(printer, Temps(hotend_actual=215.25, hotend_target=215, bed_actual=60))
    await asyncio.sleep(3 * 60 * 60)
    running.cancel()

    history = recorder.history()
    assert len(history.age_sec) == KEPT_S / INTERVAL_S
    assert history.age_sec == sorted(history.age_sec, reverse=True)
    assert set(history.hotend_actual) == {215.2}
    assert set(history.hotend_target) == {215}
    assert set(history.bed_actual) == {60}
    assert set(history.chamber_actual) == {None}


@on_a_hasty_loop
async def test_nothing_is_recorded_while_the_printer_is_not_reached() -> None:
    printer = ScriptedPrinter()
    recorder = TemperatureRecorder(printer, hasty_loop().time)
    printer.view = replace(printer.view, trouble=NOT_YET)
    recorder.record()

    assert recorder.history().age_sec == []


@on_a_hasty_loop
async def test_what_json_cannot_hold_is_left_out() -> None:
    printer = ScriptedPrinter()
    recorder = TemperatureRecorder(printer, hasty_loop().time)
    warm(printer, Temps(hotend_actual=nan, bed_actual=inf, chamber_actual=40))
    recorder.record()

    history = recorder.history()
    assert (history.hotend_actual, history.bed_actual) == ([0], [0])
    assert (history.chamber_actual, history.chamber_target) == ([40], [None])


@on_a_hasty_loop
async def test_the_command_tells_of_the_time_that_is_asked_for() -> None:
    printer = ScriptedPrinter()
    recorder = TemperatureRecorder(printer, hasty_loop().time)
    async with command_calls(printer, temperatures=recorder) as calls:
        for celsius in (20, 21, 22):
            warm(printer, Temps(bed_actual=celsius))
            recorder.record()
            await asyncio.sleep(100)
        everything = (await calls.get("temperatures")).result
        recent = (await calls.get("temperatures", SinceSec=250)).result
        refused = await calls.get("temperatures", SinceSec="long")

    assert everything["AgeSec"] == [300, 200, 100]
    assert everything["BedActual"] == [20, 21, 22]
    assert recent["BedActual"] == [21, 22]
    assert refused.status == CommandStatus.BAD_ARGUMENTS
