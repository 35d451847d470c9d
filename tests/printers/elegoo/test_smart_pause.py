"""Smart pauses of Elegoo printers, which are made of orders for heat and for moves."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from printreach.contract.commands import Pause
from printreach.contract.status import CurrentPrint, JobStatus, State, Temps
from printreach.printers.elegoo.pause_plan import ElegooPausePlan, Orders
from printreach.printers.following import LiveView
from printreach.printers.port import View
from printreach.printers.print_progress import SavedState
from tests.printers.bench import TEST_S, Bench, adapter_at, machine, on_the_bench
from tests.printers.elegoo.sdcp_rig import SdcpRig

SMART = {"SmartPause": True, "DisableBed": True, "ZLiftMm": 2, "RetractFilamentMm": 1}
HOT_C, BED_C = 200.0, 60.0


@pytest.fixture
def rig() -> SdcpRig:
    return SdcpRig()


async def heat_becomes(bench: Bench, hotend_c: float, bed_c: float) -> None:
    assert isinstance(bench.rig, SdcpRig)
    fake = bench.rig.fake.machine

    async def is_so() -> bool:
        return (fake.nozzle_target, fake.bed_target) == (hotend_c, bed_c)

    await bench.until_true(f"{hotend_c} and {bed_c} degrees", is_so)


async def saved(bench: Bench) -> None:
    """Pause a hot print until it has cooled down."""
    await bench.start_hot()
    assert (await bench.calls.post("pause", SMART)).result == {}
    await bench.until(State.PAUSED)
    await heat_becomes(bench, 0.0, 0.0)


def after_a_restart(rig: SdcpRig, folder: Path, provoke: Callable[[Bench], object]) -> None:
    """Rest a print, start the agent anew, and see that the print gets its heat back."""

    async def body() -> None:
        async with asyncio.timeout(TEST_S), rig.open():
            async with adapter_at(rig, machine(rig, folder)) as bench:
                await bench.until_true("a view", lambda: _is_connected(bench))
                await saved(bench)
            async with adapter_at(rig, machine(rig, folder)) as bench:
                await bench.until_true("a view", lambda: _is_connected(bench))
                assert (await bench.job())["State"] == State.PAUSED
                result = provoke(bench)
                if asyncio.iscoroutine(result):
                    await result
                await heat_becomes(bench, HOT_C, BED_C)
                await bench.until(State.PRINTING)

    rig.run(body())


async def _is_connected(bench: Bench) -> bool:
    return bench.printer.view.trouble is None


class TestSmartPause:
    @on_the_bench
    async def test_the_head_is_lifted_and_comes_down_again(self, bench: Bench) -> None:
        assert isinstance(bench.rig, SdcpRig)
        await saved(bench)
        lifted = list(bench.rig.fake.machine.moved)
        assert (await bench.calls.post("resume")).result == {}
        await bench.until(State.PRINTING)

        assert lifted == [("Z", 2)]
        assert bench.rig.fake.machine.moved == [("Z", 2), ("Z", -2)]
        await heat_becomes(bench, HOT_C, BED_C)

    @on_the_bench
    async def test_a_rest_can_be_cancelled(self, bench: Bench) -> None:
        await saved(bench)
        assert (await bench.calls.post("cancel")).result == {}
        await bench.until(State.CANCELLED)
        await bench.start(bench.rig.long_print())
        await bench.until(State.PRINTING)

        await heat_becomes(bench, 0.0, 0.0)

    def test_an_agent_that_was_restarted_meanwhile_gives_it_all_back(
        self, rig: SdcpRig, tmp_path: Path
    ) -> None:
        after_a_restart(rig, tmp_path, lambda bench: bench.calls.post("resume"))

    def test_a_print_that_is_resumed_at_the_printer_gets_its_heat_back(
        self, rig: SdcpRig, tmp_path: Path
    ) -> None:
        after_a_restart(rig, tmp_path, lambda _bench: rig.fake.machine.resume())


def planned(order: Pause, view: View) -> SavedState:
    live_view = cast("LiveView", SimpleNamespace(view=view))
    return ElegooPausePlan(cast("Orders", SimpleNamespace(print_id=str)), live_view).planned(order)


def test_a_resin_printer_rests_as_it_stands() -> None:
    view = View(trouble=None, job=JobStatus(state=State.PRINTING))

    assert planned(Pause(smart_pause=True, z_lift_mm=5), view) == SavedState(path="")


def test_what_is_left_on_is_not_touched() -> None:
    temps = Temps(hotend_target=HOT_C, bed_target=BED_C)
    job = JobStatus(state=State.PRINTING, current_print=CurrentPrint(temps=temps))
    saved = planned(Pause(smart_pause=True), View(trouble=None, job=job))

    assert saved.targets == {"hotend_c": HOT_C}


def test_a_damaged_memory_heats_nothing() -> None:
    stored = {"file_name": "a", "hotend_c": 1e9, "lift_mm": -1}

    assert ElegooPausePlan.shape.decode(stored) == SavedState(path="a")
