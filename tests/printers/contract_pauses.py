"""Contract: what a smart pause took is restored in the very same print, or not at all."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import Pause
from printreach.contract.status import State
from printreach.printers.operations import Operation
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits
from tests.printers.asking import Json
from tests.printers.bench import TEST_S, Bench, adapter_at, machine
from tests.printers.print_file import PrintFile
from tests.printers.rig import PrinterRig

SMART: Json = {"SmartPause": True, "ZLiftMm": 2, "RetractFilamentMm": 1}
WATCHED_S = 3.0
REFUSED = 752


@asynccontextmanager
async def agent(
    rig: PrinterRig,
    folder: Path,
    limits: CommandLimits = DEFAULT_LIMITS,
    remote_lock: RemoteLock | None = None,
) -> AsyncIterator[Bench]:
    """An agent that has reached the printer. folder: where it remembers things.

    A second one in another folder stands for a person at the printer.
    """
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    setup = replace(machine(rig, folder), limits=limits)
    async with adapter_at(rig, setup, remote_lock) as bench:

        async def is_connected() -> bool:
            return bench.printer.view.trouble is None

        await bench.until_true("the first view", is_connected)
        yield bench


async def smart_pause(bench: Bench) -> tuple[str, float]:
    """Pause a hot print. Its path, and the target that its hotend had."""
    path = await bench.start_hot()
    hotend_c = await bench.until_true("heat", bench.hotend_target)
    assert (await bench.calls.post("pause", SMART)).status == 200
    await bench.until(State.PAUSED)
    return path, hotend_c


async def until_paused_hot(bench: Bench) -> float:
    """Wait for the pause that is in the file. The target of the hotend then."""
    await bench.until(State.PAUSED)

    return await bench.until_true("heat", bench.hotend_target)


async def until_hotend_is(bench: Bench, target_c: float) -> None:
    async def is_so() -> bool:
        return bool((await bench.temps())["HotendTarget"] == target_c)

    await bench.until_true(f"a hotend at {target_c}", is_so)


async def seen_for_a_while(bench: Bench) -> tuple[set[State], set[float]]:
    """The states and the targets of the hotend that show."""
    states, targets_c = set(), set()
    end = asyncio.get_running_loop().time() + WATCHED_S
    while asyncio.get_running_loop().time() < end:
        job = await bench.job()
        states.add(State(job["State"]))
        targets_c.add(float(job["CurrentPrint"]["Temps"]["HotendTarget"]))
        await asyncio.sleep(0.05)
    return states, targets_c


def run(rig: PrinterRig, body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def on_the_printer() -> None:
        async with asyncio.timeout(TEST_S), rig.open():
            await body()

    rig.run(on_the_printer())


def turns_heaters_off(rig: PrinterRig) -> bool:
    return Operation.PAUSE_HEATERS in rig.smart_pause


class PauseContract:
    @pytest.mark.parametrize("is_same_file", [True, False])
    def test_a_print_that_somebody_started_meanwhile_is_left_alone(
        self, rig: PrinterRig, tmp_path: Path, is_same_file: bool
    ) -> None:
        async def body() -> None:
            async with agent(rig, tmp_path / "agent") as bench:
                path, hotend_c = await smart_pause(bench)
            async with agent(rig, tmp_path / "person") as person:
                assert (await person.calls.post("cancel")).status == 200
                await person.until(State.CANCELLED)
                if is_same_file:
                    assert (await person.calls.post("start", {"Path": path})).status == 200
                else:
                    hot = rig.hot_print()
                    await person.start(PrintFile(f"other-{hot.name}", hot.data))
                await person.until(State.PRINTING)
                if turns_heaters_off(rig):
                    hotend_c += 5.0  # by which a restore would be seen
                    assert (await person.calls.post("set-temp", {"ToolC": hotend_c})).status == 200
                await until_hotend_is(person, hotend_c)
                async with agent(rig, tmp_path / "agent"):
                    states, targets_c = await seen_for_a_while(person)
                    assert (states, targets_c) == ({State.PRINTING}, {hotend_c})
                    assert (await person.calls.post("pause")).status == 200
                    await person.until(State.PAUSED)

        run(rig, body)

    def test_a_file_that_pauses_at_the_same_place_again_is_left_alone(
        self, rig: PrinterRig, tmp_path: Path
    ) -> None:
        pausing = rig.pausing_print()
        if pausing is None:
            return

        async def body() -> None:
            async with agent(rig, tmp_path / "agent") as bench:
                path = await bench.start(pausing)
                hotend_c = await until_paused_hot(bench)
                await bench.printer.pause(Pause(smart_pause=True, z_lift_mm=2))
                await until_hotend_is(bench, 0.0)
            async with agent(rig, tmp_path / "person") as person:
                assert (await person.calls.post("cancel")).status == 200
                await person.until(State.CANCELLED)
                assert (await person.calls.post("start", {"Path": path})).status == 200
                assert await until_paused_hot(person) == hotend_c
                hotend_c += 5.0
                assert (await person.calls.post("set-temp", {"ToolC": hotend_c})).status == 200
                await until_hotend_is(person, hotend_c)
                async with agent(rig, tmp_path / "agent") as bench:
                    assert (await bench.calls.post("resume")).status == 200
                    states, targets_c = await seen_for_a_while(person)

            assert targets_c == {hotend_c}
            assert State.PRINTING in states

        run(rig, body)

    def test_nothing_is_heated_moved_or_resumed_after_a_cancel(
        self, rig: PrinterRig, tmp_path: Path
    ) -> None:
        """A person resumes the print at the printer, and its owner cancels it."""

        async def body() -> None:
            async with (
                agent(rig, tmp_path / "agent") as bench,
                agent(rig, tmp_path / "person") as person,
            ):
                await smart_pause(bench)
                await person.until(State.PAUSED)
                assert (await person.calls.post("resume")).status == 200

                async def is_cancelled() -> bool:
                    return (await bench.calls.post("cancel")).status == 200

                await bench.until_true("a cancel", is_cancelled)
                job = await bench.until(State.CANCELLED)
                states, targets_c = await seen_for_a_while(bench)

                assert states == {State.CANCELLED}
                assert max(targets_c) <= job["CurrentPrint"]["Temps"]["HotendTarget"]

        run(rig, body)

    def test_a_restore_beyond_the_owners_limits_is_refused(
        self, rig: PrinterRig, tmp_path: Path
    ) -> None:
        if not turns_heaters_off(rig):
            return

        async def body() -> None:
            async with agent(rig, tmp_path / "agent") as bench:
                _, hotend_c = await smart_pause(bench)
                await until_hotend_is(bench, 0.0)
            limits = CommandLimits(hotend_c=hotend_c - 1)
            async with agent(rig, tmp_path / "agent", limits) as bench:
                refused = await bench.calls.post("resume")
                states, targets_c = await seen_for_a_while(bench)

            assert refused.status == REFUSED
            assert f"ToolC must be 0 to {hotend_c - 1:g} degrees" in refused.error
            assert (states, targets_c) == ({State.PAUSED}, {0.0})

        run(rig, body)

    def test_a_heater_that_could_not_be_restored_is_left_on(
        self, rig: PrinterRig, tmp_path: Path
    ) -> None:
        if not turns_heaters_off(rig):
            return

        async def body() -> None:
            async with agent(rig, tmp_path, CommandLimits(hotend_c=1.0)) as bench:
                _, hotend_c = await smart_pause(bench)
                states, targets_c = await seen_for_a_while(bench)
                assert (states, targets_c) == ({State.PAUSED}, {hotend_c})

        run(rig, body)
