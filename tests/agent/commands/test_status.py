"""Status is told from the live view: callers cost the printer nothing, however many."""

import asyncio
from dataclasses import replace

import pytest

from printreach.agent.commands.webcams import LIST_RETRY_S, LIST_TIMEOUT_S, LIST_TTL_S
from printreach.contract.status import JobStatus, Light, State, StatusResult
from printreach.hub.printers.live import read_status
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import CommandCalls, command_calls

CALLERS = 20


async def ask_for_a_while(calls: CommandCalls, seconds: int) -> None:
    """So many callers, each once a second, at once."""
    for _ in range(seconds):
        for reply in await asyncio.gather(*(calls.get("status") for _ in range(CALLERS))):
            assert reply.status == 200
        await asyncio.sleep(1)


@on_a_hasty_loop
async def test_twenty_callers_a_second_ask_the_printer_nothing_but_its_cameras_now_and_then() -> (
    None
):
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        await ask_for_a_while(calls, 61)

    assert printer.done == []
    assert printer.cameras_listed == 1 + 60 // LIST_TTL_S


@on_a_hasty_loop
async def test_a_printer_that_cannot_list_its_cameras_holds_up_one_status_only() -> None:
    printer = ScriptedPrinter()
    printer.is_silent = True
    async with command_calls(printer) as calls:
        began = hasty_loop().time()
        await calls.get("status")
        waited_s = hasty_loop().time() - began
        await ask_for_a_while(calls, 20)

    assert waited_s <= LIST_TIMEOUT_S + 0.01
    assert printer.cameras_listed <= 1 + 20 // LIST_RETRY_S


@on_a_hasty_loop
async def test_a_status_never_waits_for_a_list_of_cameras_that_is_old() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        await calls.get("status")
        printer.is_silent = True
        await asyncio.sleep(LIST_TTL_S + 1)
        began = hasty_loop().time()
        await calls.get("status")

        assert hasty_loop().time() - began < 0.01
        assert printer.cameras_listed == 2


@on_a_hasty_loop
async def test_a_change_is_told_at_once() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        for state in State:
            printer.be(state)
            assert (await calls.get("status")).result["JobStatus"]["State"] == state


SPELLINGS = ("IncludeMaterialSystem", "includeMaterialSystem", "include_material_system")


@pytest.mark.parametrize("name", SPELLINGS)
@on_a_hasty_loop
async def test_the_material_system_is_asked_for_by_any_of_its_names_in_query_and_body(
    name: str,
) -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        asked = [await calls.post("status", {name: True}), await calls.get("status", **{name: 1})]
        left_out = [await calls.post("status", {name: False}), await calls.post("status")]
        wrong = await calls.post("status", {name: "true"})

        assert all("MaterialSystem" in reply.result["JobStatus"] for reply in asked)
        assert not any("MaterialSystem" in reply.result["JobStatus"] for reply in left_out)
        assert wrong.status == 751
        assert name in wrong.error


@on_a_hasty_loop
async def test_one_long_text_of_a_printer_is_cut_and_its_status_arrives() -> None:
    printer = ScriptedPrinter()
    job = JobStatus(
        state=State.PRINTING, error="x" * 10_000, lights=[Light(name="light", on=True)] * 1000
    )
    printer.view = replace(printer.view, job=job)
    async with command_calls(printer) as calls:
        body = (await calls.get("status")).body

    arrived = read_status(body)
    assert isinstance(arrived, StatusResult)
    assert arrived.job_status.error == "x" * 512
    assert len(arrived.job_status.lights or []) == 64
