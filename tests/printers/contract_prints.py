"""Contract: a print from start to end, and what is refused in which state."""

import asyncio

from printreach.contract.status import State
from printreach.printers.operations import Operation
from printreach.rules.prints import Need, NeedKind
from tests.printers.bench import Bench, on_the_bench
from tests.printers.contract_controls import MOVEMENTS
from tests.printers.contract_status import assert_is_a_status

STAYS_S = 1.5
WRONG_STATE = 786
MISSING = "gcode/there is no such file.gcode"


class PrintContract:
    @on_the_bench
    async def test_a_running_print_tells_its_file_and_its_progress(self, bench: Bench) -> None:
        path = await bench.start_long()
        status = await bench.status()

        assert_is_a_status(status)
        now = status["JobStatus"]["CurrentPrint"]
        assert now["FileName"] == path.rpartition("/")[2]
        assert now["Progress"] < 100.0

    @on_the_bench
    async def test_the_duration_of_a_print_grows(self, bench: Bench) -> None:
        await bench.start_long()

        async def grows() -> bool:
            return bool((await bench.job())["CurrentPrint"]["DurationSec"] >= 1)

        await bench.until_true("a duration of a second", grows)

    @on_the_bench
    async def test_a_print_pauses_resumes_and_is_cancelled(self, bench: Bench) -> None:
        await bench.start_long()

        assert (await bench.calls.post("pause")).result == {}
        paused = await bench.until(State.PAUSED)
        assert (await bench.calls.post("resume")).result == {}
        await bench.until(State.PRINTING)
        assert (await bench.calls.post("cancel")).result == {}
        cancelled = await bench.until(State.CANCELLED)

        assert paused["CurrentPrint"]["FileName"]
        assert cancelled["CurrentPrint"]["FileName"] == paused["CurrentPrint"]["FileName"]

    @on_the_bench
    async def test_a_paused_print_can_be_cancelled(self, bench: Bench) -> None:
        await bench.start_long()
        await bench.calls.post("pause")
        await bench.until(State.PAUSED)

        assert (await bench.calls.post("cancel")).result == {}
        await bench.until(State.CANCELLED)

    @on_the_bench
    async def test_a_cancelled_print_stays_cancelled_until_the_next(self, bench: Bench) -> None:
        path = await bench.start_long()
        await bench.calls.post("cancel")
        await bench.until(State.CANCELLED)

        await asyncio.sleep(STAYS_S)
        assert (await bench.job())["State"] == State.CANCELLED

        assert (await bench.calls.post("start", {"Path": path})).status == 200
        await bench.until(State.WARMING_UP, State.PRINTING)

    @on_the_bench
    async def test_a_print_that_ends_is_complete_and_stays_so(self, bench: Bench) -> None:
        path = await bench.start(bench.rig.short_print())
        await bench.until(State.COMPLETE)
        await asyncio.sleep(STAYS_S)
        status = await bench.status()

        assert_is_a_status(status)
        assert status["JobStatus"]["State"] == State.COMPLETE
        now = status["JobStatus"]["CurrentPrint"]
        assert now["FileName"] == path.rpartition("/")[2]
        assert now["Progress"] == 100.0
        assert now["TimeLeftSec"] in (0, None)

    @on_the_bench
    async def test_a_fault_is_an_error_with_words(self, bench: Bench) -> None:
        await bench.start_long()
        await bench.rig.fail_print()
        job = await bench.until(State.ERROR)

        assert job["Error"]
        assert_is_a_status(await bench.status())

    @on_the_bench
    async def test_a_print_that_wants_another_filament_says_so(self, bench: Bench) -> None:
        asking = bench.rig.asking_print()
        await bench.start(asking or bench.rig.long_print())
        if asking is None:
            await bench.until(State.WARMING_UP, State.PRINTING)
            assert bench.printer.view.need is None
            return

        async def need() -> Need | None:
            return bench.printer.view.need

        assert (await bench.until_true("a need", need)).kind is NeedKind.FILAMENT

    @on_the_bench
    async def test_what_has_no_place_when_nothing_prints_is_refused(self, bench: Bench) -> None:
        for command in ("pause", "resume", "cancel"):
            assert (await bench.calls.post(command)).status == WRONG_STATE

    @on_the_bench
    async def test_what_has_no_place_while_it_prints_is_refused(self, bench: Bench) -> None:
        path = await bench.start_long()

        assert (await bench.calls.post("resume")).status == WRONG_STATE
        assert (await bench.calls.post("start", {"Path": path})).status == WRONG_STATE
        for feature, command, body in MOVEMENTS:
            if feature in bench.rig.features:
                assert (await bench.calls.post(command, body)).status == WRONG_STATE

    @on_the_bench
    async def test_an_order_is_judged_by_what_the_one_before_it_leads_to(
        self, bench: Bench
    ) -> None:
        """Though the printer's live view may be from before."""
        path = await bench.start(bench.rig.long_print())
        assert (await bench.calls.post("start", {"Path": path})).status == WRONG_STATE
        await bench.until(State.PRINTING)
        assert (await bench.calls.post("pause")).result == {}
        assert (await bench.calls.post("pause")).status == WRONG_STATE
        assert (await bench.calls.post("resume")).result == {}
        assert (await bench.calls.post("resume")).status == WRONG_STATE
        assert (await bench.calls.post("cancel")).result == {}
        assert (await bench.calls.post("pause")).status == WRONG_STATE

    @on_the_bench
    async def test_a_file_that_is_not_there_is_not_started(self, bench: Bench) -> None:
        reply = await bench.calls.post("start", {"Path": MISSING})

        assert (reply.status, reply.error) == (404, f"There is no file {MISSING!r}.")
        assert (await bench.job())["State"] == State.IDLE

    @on_the_bench
    async def test_a_print_is_not_started_from_a_storage_that_is_not_there(
        self, bench: Bench
    ) -> None:
        file = bench.rig.long_print()
        path = await bench.upload(file.name, file.data)
        reply = await bench.calls.post("start", {"Path": path, "Storage": "no such storage"})

        assert reply.status == 751
        assert reply.error.startswith("Storage")
        assert (await bench.job())["State"] == State.IDLE

    @on_the_bench
    async def test_a_smart_pause_turns_the_hotend_off_and_a_resume_on(self, bench: Bench) -> None:
        await bench.start_hot()
        before = await bench.temps()

        order = {"SmartPause": True, "ZLiftMm": 2, "RetractFilamentMm": 1}
        assert (await bench.calls.post("pause", order)).status == 200
        await bench.until(State.PAUSED)
        if Operation.PAUSE_HEATERS in bench.rig.smart_pause:
            await bench.until_true("a hotend that is off", lambda: _hotend_is(bench, 0.0))
        during = await bench.temps()
        assert (await bench.calls.post("resume")).status == 200
        await bench.until(State.PRINTING)

        assert during["BedTarget"] == before["BedTarget"]
        await bench.until_true(
            "the hotend's old target", lambda: _hotend_is(bench, before["HotendTarget"])
        )

    @on_the_bench
    async def test_the_filament_of_a_print_is_estimated_whole_all_the_time(
        self, bench: Bench
    ) -> None:
        """Not what was used so far: from the first figure on it is about that of the end."""
        await bench.start(await bench.rig.feeding_print())
        amounts_mm: list[int] = []

        async def is_complete() -> bool:
            job = await bench.job()
            amounts_mm.append(job["CurrentPrint"]["EstTotalFilUsedMm"])
            return bool(job["State"] == State.COMPLETE)

        await bench.until_true("the end of the print", is_complete)

        known = [mm for mm in amounts_mm if mm]
        assert all(abs(mm - amounts_mm[-1]) <= 0.25 * amounts_mm[-1] for mm in known), known
        assert bool(amounts_mm[-1]) >= bench.rig.tells_filament


async def _hotend_is(bench: Bench, target_c: float) -> bool:
    return bool((await bench.temps())["HotendTarget"] == target_c)
