"""Restoring what a smart pause took: in the very same print, and in no other case."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import JobStatus, State
from printreach.printers.port import PrinterRefused, View, failed
from printreach.printers.print_progress import PrintReport
from printreach.printers.smart_pauses import SmartPauses
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.printers.resting_print import (
    AT,
    CANCELLED,
    GOING,
    PAUSED,
    PAUSING,
    FakePlatform,
    begun,
    is_saved,
    resting,
    settle,
)

# --- it is given back -----------------------------------------------------------------------------


@on_a_hasty_loop
async def test_a_resume_heats_waits_lowers_and_goes_on(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    await pauses.resume()

    assert platform.done == ["heat"]
    paused, idle = View(trouble=None, job=JobStatus(state=State.PAUSED)), View(trouble=None)
    assert pauses.is_restoring
    assert pauses.shown(paused).job.state is State.RESUMING
    assert pauses.shown(idle) is idle  # it shows in a paused print alone
    platform.warms_up()
    await settle()

    assert platform.done == ["heat", "lower 10", "resume"]
    assert not is_saved(tmp_path)
    assert not pauses.is_restoring


@on_a_hasty_loop
async def test_a_print_that_is_resumed_at_the_printer_is_paused_again_for_it(
    tmp_path: Path,
) -> None:
    platform, _ = resting(tmp_path)
    platform.warm = True
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["pause", "heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_a_restart_of_the_agent_in_the_pause_forgets_nothing(tmp_path: Path) -> None:
    resting(tmp_path)
    platform, pauses = begun(tmp_path)
    await pauses.resume()

    assert platform.done == ["heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_a_restart_and_then_a_resume_at_the_printer_gives_it_back(tmp_path: Path) -> None:
    resting(tmp_path)
    platform, _ = begun(tmp_path)
    platform.becomes(PAUSED)
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["pause", "heat", "lower 10", "resume"]


# --- a cancel, a lock, a lost printer -------------------------------------------------------------

Ending = Callable[[FakePlatform, SmartPauses], Awaitable[None]]


async def by_cancel(platform: FakePlatform, pauses: SmartPauses) -> None:
    await pauses.cancel()


async def by_cancel_at_the_printer(platform: FakePlatform, pauses: SmartPauses) -> None:
    platform.becomes(CANCELLED)


async def by_lock(platform: FakePlatform, pauses: SmartPauses) -> None:
    await pauses.lock()


async def by_loss(platform: FakePlatform, pauses: SmartPauses) -> None:
    platform.becomes(None)


async def by_another_print(platform: FakePlatform, pauses: SmartPauses) -> None:
    at = replace(AT, print_id="8")
    platform.becomes(replace(PAUSED, progress=at))


@on_a_hasty_loop
async def test_a_lock_ends_a_resume_that_waits_for_the_pause(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.becomes(PAUSING)
    platform.is_resumable = False
    resume = asyncio.create_task(pauses.resume())
    await asyncio.sleep(1.0)
    await pauses.lock()
    platform.is_resumable = True
    platform.becomes(PAUSED)
    platform.warms_up()
    await settle()

    with pytest.raises(PrinterRefused):
        await resume
    assert platform.done == []


@on_a_hasty_loop
async def test_after_a_lock_a_smart_pause_that_is_under_way_takes_nothing(tmp_path: Path) -> None:
    _, pauses = begun(tmp_path)
    require_paused = await pauses.begin_pause()
    require_paused()
    await pauses.lock()

    with pytest.raises(PrinterRefused, match="remote control was locked"):
        require_paused()


@on_a_hasty_loop
async def test_after_an_unlock_a_resume_gives_everything_back(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    await pauses.resume()
    await pauses.lock()
    platform.warms_up()
    await pauses.resume()
    await settle()

    assert platform.done == ["heat", "heat", "lower 10", "resume"]


# --- it is held while the service is away ---------------------------------------------------------


@on_a_hasty_loop
async def test_while_the_service_is_away_an_ordered_restore_waits_to_move(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    await pauses.resume()
    pauses.hold(is_held=True)
    platform.warms_up()
    await asyncio.sleep(600.0)
    assert platform.done == ["heat"]
    assert pauses.is_restoring
    pauses.hold(is_held=False)
    await settle()

    assert platform.done == ["heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_a_lock_that_is_told_when_the_service_is_back_ends_it(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    await pauses.resume()
    pauses.hold(is_held=True)
    platform.warms_up()
    await asyncio.sleep(600.0)
    pauses.hold(is_held=False)
    await pauses.lock()
    await settle()

    assert platform.done == ["heat"]


@on_a_hasty_loop
async def test_a_restore_is_given_up_where_the_service_stays_away(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.warm = True
    pauses.hold(is_held=True)
    await pauses.resume()
    await settle()
    pauses.hold(is_held=False)
    await settle()

    assert platform.done == ["heat"]
    assert not pauses.is_restoring


@on_a_hasty_loop
async def test_without_the_service_a_print_resumed_at_the_printer_gets_everything_back(
    tmp_path: Path,
) -> None:
    platform, pauses = resting(tmp_path)
    platform.warm = True
    pauses.hold(is_held=True)
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["pause", "heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_somebody_at_the_printer_may_go_on_with_a_restore_that_is_held(
    tmp_path: Path,
) -> None:
    platform, pauses = resting(tmp_path)
    await pauses.resume()
    pauses.hold(is_held=True)
    platform.warms_up()
    await asyncio.sleep(600.0)
    platform.becomes(GOING)
    await asyncio.sleep(1.0)
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["heat", "pause", "heat", "lower 10", "resume"]


ENDINGS = [by_cancel, by_cancel_at_the_printer, by_lock, by_loss, by_another_print]


@pytest.mark.parametrize("end", ENDINGS)
def test_nothing_more_is_sent_while_it_waits_for_heat(tmp_path: Path, end: Ending) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path)
        await pauses.resume()
        await end(platform, pauses)
        platform.warms_up()
        await settle()

        assert [one for one in platform.done if one != "cancel"] == ["heat"]
        assert not pauses.is_restoring

    body()


@pytest.mark.parametrize("end", ENDINGS)
@pytest.mark.parametrize("stuck", [PAUSING, GOING])
def test_nothing_is_sent_to_a_print_that_never_came_to_rest_again(
    tmp_path: Path, stuck: PrintReport, end: Ending
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path)
        platform.obeys = False
        platform.becomes(GOING)
        await asyncio.sleep(1.0)
        platform.becomes(stuck)
        assert platform.done == ["pause"]
        await end(platform, pauses)
        platform.becomes(PAUSED if end is by_lock else platform.print)
        platform.warms_up()
        await settle()

        assert [one for one in platform.done if one != "cancel"] == ["pause"]

    body()


@on_a_hasty_loop
async def test_a_pause_that_takes_too_long_is_not_followed_by_a_restore(tmp_path: Path) -> None:
    platform, _ = resting(tmp_path)
    platform.obeys = False
    platform.becomes(GOING)
    await asyncio.sleep(1.0)
    platform.becomes(PAUSING)
    await settle()
    platform.becomes(PAUSED)
    await settle()

    assert platform.done == ["pause"]


@pytest.mark.parametrize("order", ["pause", "heat", "lower 10"])
def test_an_order_under_way_reaches_the_printer_before_the_cancel_and_none_after_it(
    tmp_path: Path, order: str
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path)
        platform.warm = True
        platform.takes_s = {order: 1.0}
        platform.becomes(GOING)
        await asyncio.sleep(0.5)
        await pauses.cancel()
        await settle()

        assert platform.done[-2:] == [order, "cancel"]

    body()


@on_a_hasty_loop
async def test_a_plain_resume_that_waits_for_the_pause_is_ended_by_a_cancel(
    tmp_path: Path,
) -> None:
    platform, pauses = begun(tmp_path)
    platform.print = PAUSING
    platform.is_resumable = False
    resuming = asyncio.create_task(pauses.resume())
    await asyncio.sleep(1.0)
    await pauses.cancel()
    await settle()

    assert platform.done == ["cancel"]
    with pytest.raises(PrinterRefused, match="Another order ended"):
        await resuming


@on_a_hasty_loop
async def test_nothing_is_resumed_while_a_cancel_is_under_way(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.takes_s = {"cancel": 5.0}
    cancelling = asyncio.create_task(pauses.cancel())
    await asyncio.sleep(1.0)
    with pytest.raises(PrinterRefused, match="being cancelled"):
        await pauses.resume()
    await cancelling

    assert platform.done == ["cancel"]


@on_a_hasty_loop
async def test_after_a_cancel_that_was_refused_only_an_order_gives_it_back(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.refusal = {"cancel": failed("No.")}
    with pytest.raises(PrinterRefused):
        await pauses.cancel()
    platform.warm = True
    await pauses.resume()

    assert platform.done == ["cancel", "heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_a_print_that_goes_on_after_a_refused_cancel_is_left_alone(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.refusal = {"cancel": failed("No.")}
    with pytest.raises(PrinterRefused):
        await pauses.cancel()
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["cancel"]


@on_a_hasty_loop
async def test_a_pause_takes_nothing_once_the_print_was_cancelled(tmp_path: Path) -> None:
    platform, pauses = begun(tmp_path)
    require_paused = await pauses.begin_pause()
    require_paused()
    await pauses.cancel()
    platform.becomes(PAUSED)
    with pytest.raises(PrinterRefused) as refused:
        require_paused()

    assert refused.value.status == CommandStatus.INVALID_STATE
