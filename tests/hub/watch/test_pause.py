"""Pausing for the owner: when it is allowed, at most once, never another print, always told."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from printreach.contract.app_answers import WatchState
from printreach.contract.commands import Pause
from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.hub.watch.rounds import WatchRounds
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.detection.detector import watch_status
from printreach.rules.watch import MAX_TRIES
from printreach.rules.watch.choices import WatchPause, WatchSettings
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import OFFLINE
from tests.hub.watch.world import BAD, GOOD, PRINT, PowerCut, WatchWorld, watching
from tests.hub.world import BOB, PRINTER_ID, OpenWorld

pytestmark = pytest.mark.slow

WARNING, PAUSED = EventType.POSSIBLE_FAILURE, EventType.PAUSED_BY_DETECTOR
PAUSES = WatchSettings(pauses=WatchPause(disable_hotend=False, disable_bed=True, z_lift_mm=5))
REFUSED = PrinterRefusal(752, "The printer says no.")


async def fail(here: WatchWorld) -> None:
    """It prints well for a while, then fails until it would be paused."""
    await here.goes_on(80, GOOD, every_s=20)
    await here.goes_on(120, BAD)


def obeys(here: WatchWorld) -> None:
    """The printer does what it is told."""
    here.machine.on_order = here.machine.pauses


async def resume(here: WatchWorld) -> None:
    here.machine.prints()
    await here.happens(EventType.RESUMED)


@pytest.mark.parametrize(
    "chosen",
    [
        WatchSettings(),
        replace(PAUSES, enabled=False),
        replace(PAUSES, off_for_print=PRINT),
    ],
)
def test_what_is_chosen_in_the_last_moment_stops_a_pause(
    open_world: OpenWorld, chosen: WatchSettings
) -> None:
    async def main() -> None:
        async with watching(open_world, PAUSES) as here:
            asked_at = []

            async def choose_before_a_pause() -> None:
                """Only that asks twice at a time."""
                at = here.world.clock.now()
                if at in asked_at:
                    await here.choose(chosen)
                asked_at.append(at)

            obeys(here)
            here.machine.on_ask = choose_before_a_pause
            await fail(here)

            assert here.machine.orders == []
            assert await here.kinds() == [WARNING]

            here.machine.on_ask = lambda: None
            await here.choose(PAUSES)
            await here.goes_on(120, BAD)

            assert len(here.machine.orders) == 1

    asyncio.run(main())


@on_a_loop
async def test_a_failing_print_is_paused_as_its_owner_chose(open_world: OpenWorld) -> None:
    async with watching(open_world, PAUSES) as here:
        obeys(here)
        await fail(here)
        await here.goes_on(300, every_s=60)

        [order] = here.machine.orders
        assert (order.printer_id, order.command) == (PRINTER_ID, "/pause")
        sent = msgspec.json.decode(order.arguments, type=Pause)
        assert sent == Pause(
            smart_pause=True,
            disable_hotend=False,
            disable_bed=True,
            z_lift_mm=5,
            suppress_notification=True,
        )
        assert await here.kinds() == [WARNING, PAUSED]


@on_a_loop
async def test_what_paused_a_print_is_kept_and_said(open_world: OpenWorld) -> None:
    async with watching(open_world, PAUSES) as here:
        obeys(here)
        await fail(here)

        assert [(one.look.warned, one.look.paused) for one in await here.alarms()] == [
            (True, False),
            (False, True),
        ]
        said = await here.said()
        assert said is not None
        assert watch_status(said, State.PAUSED).state is WatchState.PAUSED


@on_a_loop
async def test_without_leave_nothing_is_paused(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await fail(here)

        assert here.machine.orders == []


@on_a_loop
async def test_leave_that_is_taken_back_in_mid_print_counts_at_once(open_world: OpenWorld) -> None:
    async with watching(open_world, PAUSES) as here:
        await here.goes_on(80, GOOD, every_s=20)
        await here.goes_on(60, BAD)
        await here.choose(WatchSettings())
        await here.goes_on(120)
        assert here.machine.orders == []

        await here.choose(PAUSES)
        obeys(here)
        await here.goes_on(60)
        assert len(here.machine.orders) == 1


@pytest.mark.slow
@on_a_loop
async def test_leave_that_is_taken_back_during_the_look_counts(open_world: OpenWorld) -> None:
    async with watching(open_world, PAUSES) as here:
        await here.goes_on(80, GOOD, every_s=20)
        here.machine.on_picture = lambda: here.choose(WatchSettings())
        for _ in range(20):
            await here.choose(PAUSES)
            await here.goes_on(10, BAD)

        assert await here.kinds() == [WARNING]
        assert here.machine.orders == []


@on_a_loop
async def test_nothing_is_paused_for_an_account_that_was_just_blocked(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        at, asked_at = here.world.clock.now, []

        async def block_before_a_pause() -> None:
            if at() in asked_at:
                await here.world.store.write(
                    lambda records: records.accounts.set_blocked(here.account_id, at())
                )
            asked_at.append(at())

        here.machine.on_ask = block_before_a_pause
        await fail(here)

        assert here.machine.orders == []


# --- never twice ----------------------------------------------------------------------------------


@on_a_loop
async def test_a_worker_that_died_before_the_order_leaves_a_print_that_is_paused_later(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        answer = here.machine.before_answer

        def die_at_the_second_question() -> None:
            if here.machine.asks[PRINTER_ID] > before + 1:
                raise PowerCut

        await here.goes_on(80, GOOD, every_s=20)
        here.scorer.probability = BAD
        while not here.machine.orders and (await here.kinds()) != [WARNING, WARNING]:
            before = here.machine.asks[PRINTER_ID]
            here.machine.before_answer = die_at_the_second_question
            here.world.clock.advance(timedelta(seconds=10))
            await here.look()
        here.machine.before_answer = answer
        assert here.machine.orders == []
        told = await here.told()
        assert "interrupted" in str(told[-1].error)

        obeys(here)
        await here.goes_on(120)
        assert await here.kinds() == [WARNING, WARNING, PAUSED]


@on_a_loop
async def test_a_worker_that_died_behind_the_order_has_ordered_it_once(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:

        def obey_and_die() -> None:
            here.machine.pauses()
            raise PowerCut

        here.machine.on_order = obey_and_die
        await fail(here)
        assert await here.kinds() == [WARNING]
        assert len(here.machine.orders) == 1

        here.world.clock.advance(WatchRounds.lease)
        other = here.another_worker()
        await other.begin_due()
        await other.settled()

        assert await here.kinds() == [WARNING, PAUSED]
        await here.goes_on(300, every_s=60)
        assert len(here.machine.orders) == 1
        assert await here.kinds() == [WARNING, PAUSED]


# --- never another print --------------------------------------------------------------------------


@pytest.mark.parametrize("state", [State.COMPLETE, State.PRINTING, State.PAUSED])
def test_a_print_that_is_over_or_stands_by_then_is_not_paused(
    open_world: OpenWorld, state: State
) -> None:
    """It ended, another one began, or somebody was quicker."""

    async def main() -> None:
        async with watching(open_world, PAUSES) as here:
            looked_at = {"at": here.world.clock.now()}

            def change_behind_the_look() -> None:
                if here.world.clock.now() == looked_at["at"]:
                    print_id = "print-2" if state is State.PRINTING else "print-1"
                    here.machine.prints(state, print_id)
                looked_at["at"] = here.world.clock.now()

            here.machine.before_answer = change_behind_the_look
            await fail(here)

            assert here.machine.orders == []
            assert await here.kinds() == [WARNING]

    asyncio.run(main())


@on_a_loop
async def test_a_printer_that_changes_owner_before_the_order_tells_the_new_one_nothing(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        await here.world.add_account(BOB)

        async def relink() -> None:
            await here.world.printers.remove(PRINTER_ID)
            await here.world.link_printer(BOB)

        here.machine.on_order = relink
        await fail(here)

        assert len(here.machine.orders) == 1
        assert await here.kinds() == [WARNING]
        told = await here.world.store.read(lambda records: records.events.awaiting_fan_out(9))
        assert {stored.account_id for stored in told.events} == {here.account_id}


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.slow
@on_a_loop
async def test_a_printer_that_refuses_is_told_of_and_asked_a_few_times_only(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        here.machine.answers["/pause"] = REFUSED
        await fail(here)
        assert await here.kinds() == [WARNING, WARNING]
        told = await here.told()
        assert told[-1].error == "It could not be paused. The printer says no."

        await here.goes_on(1200, every_s=20)

        assert len(here.machine.orders) == MAX_TRIES


@on_a_loop
async def test_an_order_without_an_answer_that_was_carried_out_is_a_pause(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        here.machine.answers["/pause"] = PrinterRefusal(602, "The printer took too long.")
        obeys(here)
        await fail(here)

        assert await here.kinds() == [WARNING, PAUSED]


@on_a_loop
async def test_a_printer_that_is_gone_by_then_is_told_of(open_world: OpenWorld) -> None:
    async with watching(open_world, PAUSES) as here:
        looked_at = {"at": here.world.clock.now()}

        def leave_behind_the_look() -> None:
            if here.world.clock.now() == looked_at["at"]:
                here.machine.statuses[PRINTER_ID] = OFFLINE
            looked_at["at"] = here.world.clock.now()

        here.machine.before_answer = leave_behind_the_look
        await fail(here)

        assert here.machine.orders == []
        assert await here.kinds() == [WARNING, WARNING]
