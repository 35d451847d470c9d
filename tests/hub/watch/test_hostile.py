"""The watch over printers whose agents lie."""

import msgspec

from printreach.contract.events import LATEST_UNIX_TIME, MAX_PRINT_ID
from printreach.contract.sizes import MAX_NUMBER
from printreach.contract.status import StatusResult
from printreach.contract.unset import UNSET
from tests.fakes.loop import on_a_loop
from tests.hub.watch.world import BAD, WatchWorld, watching
from tests.hub.world import PRINTER_ID, OpenWorld


def says(here: WatchWorld, *, started_at: int = 0, progress: float = 42.0, used: int = 0) -> None:
    """Its agent reports that instead of what is true."""
    change, status = msgspec.structs.replace, here.machine.statuses[PRINTER_ID]
    assert isinstance(status, StatusResult)
    job = status.job_status
    now = change(job.current_print, progress=progress, est_total_fil_used_mm=used)
    here.machine.statuses[PRINTER_ID] = change(
        status,
        job_status=change(job, current_print=now),
        service_status=change(status.service_status, print_start_time_sec=started_at),
    )


@on_a_loop
async def test_a_start_that_is_no_time_stops_nobodys_events(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        says(here, started_at=LATEST_UNIX_TIME + 1)
        await here.goes_on(120, BAD)

        assert [event.print_started_at_sec for event in await here.told()] == [UNSET]


@on_a_loop
async def test_an_owner_is_warned_whatever_allowed_numbers_the_agent_makes_up(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        says(here, progress=MAX_NUMBER, used=MAX_NUMBER)
        await here.goes_on(120, BAD)

        assert [event.progress for event in await here.told()] == [100]


@on_a_loop
async def test_a_print_that_no_event_could_name_is_not_watched(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        here.machine.prints(print_id="x" * (MAX_PRINT_ID + 1))
        await here.goes_on(180, BAD)

        assert await here.told() == []
        assert here.scorer.shown == 0


@on_a_loop
async def test_an_agent_that_always_names_another_print_is_not_asked_without_a_pause(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        claimed = 0
        for number in range(5):
            here.machine.prints(print_id=f"made-up-{number}")
            claimed += await here.look()

        assert claimed == 1
