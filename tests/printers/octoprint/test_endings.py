"""The ends of prints on a real OctoPrint, and their events."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.rules.prints import transitions
from tests.fakes.loop import on_a_loop
from tests.printers.bench import Bench
from tests.printers.contract_events import ObservedEvents, watched
from tests.printers.octoprint.rig import OctoPrintRig
from tests.printers.octoprint.test_octoprint import adapter

pytestmark = [pytest.mark.peer, pytest.mark.slow]

E = EventType


@asynccontextmanager
async def watched_octoprint(
    rig: OctoPrintRig, folder: Path, *, has_push: bool = True
) -> AsyncIterator[tuple[Bench, ObservedEvents]]:
    async with rig.open():
        rig.meddler.refuses_websockets = not has_push
        async with adapter(rig, folder) as bench, watched(bench) as events:
            yield bench, events


def test_a_print_that_is_cancelled_and_deleted_at_once_is_told_as_cancelled(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    @on_a_loop
    async def body() -> None:
        async with watched_octoprint(rig, tmp_path) as (bench, events):
            path = (await bench.start_long()).partition("/")[2]
            await events.until(E.STARTED)
            await rig.order("job", command="cancel")
            await asyncio.to_thread(rig.delete_when_at_rest, path)
            await events.until(E.FAILED)

            assert events.milestones == [E.STARTED, E.FAILED]
            assert events.events[-1].error == "cancelled"

    body()


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.3])
def test_a_print_that_is_cancelled_as_it_starts_is_told_of(
    rig: OctoPrintRig, tmp_path: Path, after_s: float
) -> None:
    @on_a_loop
    async def body() -> None:
        async with watched_octoprint(rig, tmp_path) as (bench, events):
            file = rig.long_print()
            path = (await bench.upload(file.name, file.data)).partition("/")[2]
            for number in (1, 2):
                await rig.order(f"files/local/{path}", command="select", print=True)
                await asyncio.sleep(after_s)
                await rig.order("job", command="cancel")
                await asyncio.to_thread(rig.wait_at_rest)
                await bench.until_true("both events", _are_told(events, 2 * number))

            assert events.milestones == [E.STARTED, E.FAILED] * 2
            assert {one.error for one in events.events if one.event_type == E.FAILED} == {
                "cancelled"
            }
            assert len({event.print_id for event in events.events}) == 2

    body()


@pytest.mark.parametrize("has_push", [True, False])
@pytest.mark.parametrize("is_asked_to_end", [True, False])
def test_a_print_that_is_lost_with_octoprint_has_failed_and_nobody_cancelled_it(
    rig: OctoPrintRig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_asked_to_end: bool,
    has_push: bool,
) -> None:
    monkeypatch.setattr(transitions, "GONE_AFTER_S", 1.0)
    program = rig.peer.program

    @on_a_loop
    async def body() -> None:
        async with watched_octoprint(rig, tmp_path, has_push=has_push) as (bench, events):
            await bench.start_long()
            await events.until(E.STARTED)
            await asyncio.to_thread(program.stop if is_asked_to_end else program.kill)
            program.start()  # here, for it dies with the thread that has started it
            await asyncio.to_thread(rig.peer.wait_operational)
            await events.until(E.FAILED)

            assert (await bench.job())["State"] == State.IDLE
            assert events.milestones == [E.STARTED, E.FAILED]
            assert str(events.events[-1].error).startswith("The print was lost. OctoPrint at ")

    body()


def _are_told(events: ObservedEvents, count: int) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return len(events.milestones) >= count

    return look
