"""A camera learns from prints that ended well, as their events say."""

import pytest

from printreach.contract.events import EventType
from printreach.hub.denied import Denied
from printreach.hub.watch.choices import WatchChoices
from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch.background import FEWEST_PRINTS, CameraBackground, still_counting
from printreach.rules.watch.choices import Judgement
from tests.fakes.loop import on_a_loop
from tests.hub.watch.world import BAD, GOOD, PRINT, WatchWorld, watching
from tests.hub.world import PRINTER_ID, OpenWorld

pytestmark = pytest.mark.slow


async def learnt(here: WatchWorld) -> CameraBackground:
    return await here.world.store.read(lambda records: records.watch_backgrounds.get(PRINTER_ID, 0))


async def begins(here: WatchWorld, print_id: str) -> None:
    here.machine.prints(print_id=print_id)
    await here.happens(EventType.STARTED, print_id)


@on_a_loop
async def test_a_print_that_is_complete_and_was_never_warned_of_teaches(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        await here.goes_on(200, GOOD)
        await here.happens(EventType.COMPLETE)

        assert (await learnt(here)).prints == 1


@pytest.mark.parametrize(
    ("shows", "ends"),
    [(GOOD, EventType.FAILED), (BAD, EventType.COMPLETE)],
    ids=["failed", "warned"],
)
@on_a_loop
async def test_a_print_that_failed_or_was_warned_of_teaches_nothing(
    open_world: OpenWorld, shows: float, ends: EventType
) -> None:
    async with watching(open_world) as here:
        await here.goes_on(150, GOOD)
        await here.goes_on(100, shows)
        await here.happens(ends)

        assert (await learnt(here)).prints == 0


@pytest.mark.parametrize("shown", [GOOD, 0.3, 0.6], ids=["good", "odd", "failing, unanswered"])
@on_a_loop
async def test_a_failure_that_is_seen_is_warned_of_whatever_completed_prints_taught(
    open_world: OpenWorld, shown: float
) -> None:
    async with watching(open_world) as here:
        for number in range(FEWEST_PRINTS + 1):
            await begins(here, f"print-{number}")
            await here.goes_on(200, shown)
            await here.happens(EventType.COMPLETE, f"print-{number}")
        assert (await learnt(here)).is_used

        await begins(here, "failing")
        await here.goes_on(100, GOOD)
        assert EventType.POSSIBLE_FAILURE not in await here.kinds()
        await here.goes_on(200, BAD)

        assert EventType.POSSIBLE_FAILURE in await here.kinds()


@on_a_loop
async def test_new_prints_of_a_camera_begin_with_what_it_has_learnt(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        known = CameraBackground(prints=3, places=((-1.5, -1.5), (-1.5, -1.5)))
        await here.world.store.write(
            lambda records: records.watch_backgrounds.put(
                OwnedPrinter(PRINTER_ID, here.account_id), 0, known
            )
        )
        await here.goes_on(20, GOOD)

        watched = await here.world.store.read(
            lambda records: records.watches.under_watch(PRINTER_ID)
        )
        assert watched is not None
        assert watched.memory.context.appearance.oddest == known.places


@on_a_loop
async def test_what_was_learnt_is_forgotten_with_the_answers_before(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(200, GOOD)
        await here.happens(EventType.COMPLETE)
        choices = WatchChoices(core=here.world.core, kept=here.parts.snapshots.kept)
        await choices.forget_learnt(here.account_id, PRINTER_ID)

        answer = Judgement(
            printer_id=PRINTER_ID,
            print_id=PRINT,
            camera=None,
            at=here.world.clock.now(),
            was_failure=False,
        )
        after = await learnt(here)
        assert after == CameraBackground(forgotten_at=here.world.clock.now())
        assert still_counting([answer], after) == []


@on_a_loop
async def test_nobody_else_has_it_forgotten(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        choices = WatchChoices(core=here.world.core, kept=here.parts.snapshots.kept)

        assert isinstance(await choices.forget_learnt("eve", PRINTER_ID), Denied)
