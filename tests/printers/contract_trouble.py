"""Contract: what is told while the printer can't be reached, and that the agent outlives it."""

import asyncio
from pathlib import Path

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from tests.printers.bench import TEST_S, Bench, adapter_at, machine, on_the_bench
from tests.printers.rig import PrinterRig

NOT_CONNECTED = CommandStatus.NOT_CONNECTED
NOT_AUTHORIZED = CommandStatus.NOT_AUTHORIZED


class TroubleContract:
    @on_the_bench
    async def test_a_printer_that_goes_away_is_not_connected_until_it_is_back(
        self, bench: Bench
    ) -> None:
        await bench.rig.disconnect()
        refused = await bench.until_refused(NOT_CONNECTED)
        assert (await bench.calls.post("home")).status in (NOT_CONNECTED, 788)
        if not bench.rig.serves_files_alone:
            assert (await bench.calls.get("files/list")).status == NOT_CONNECTED
            assert (await bench.calls.get("files/download", path="gcode/x")).http_status == 502
        await bench.rig.reconnect()

        await bench.until_true("a status again", lambda: _answers(bench))
        assert refused.error.endswith(".")
        assert (await bench.job())["State"] == State.IDLE

    @on_the_bench
    async def test_files_are_served_while_the_printer_is_off_where_its_software_answers(
        self, bench: Bench
    ) -> None:
        if not bench.rig.serves_files_alone:
            return
        await bench.rig.disconnect()
        await bench.until_refused(NOT_CONNECTED)
        file = bench.rig.short_print()
        path = await bench.upload(file.name, file.data)
        roots = bench.printer.files.roots if bench.printer.files is not None else ()

        for root in roots:
            assert (await bench.calls.get("files/list", root=root.value)).status == 200
        assert (await bench.calls.get("files/details", path=path)).status == 200
        assert (await bench.calls.get("files/download", path=path)).body == file.data
        assert (await bench.calls.post("start", {"Path": path})).status == NOT_CONNECTED
        assert (await bench.calls.post("files/delete", path=path)).status == 200
        await bench.rig.reconnect()

    @on_the_bench
    async def test_nonsense_from_the_printer_harms_nothing(self, bench: Bench) -> None:
        await bench.rig.talk_nonsense()
        if bench.rig.nonsense_ends_contact:  # an order that meets this is refused, and rightly so
            await bench.until_true("contact to end", lambda: _is_lost(bench))
        else:
            await asyncio.sleep(0.2)

        await bench.until_true("a status again", lambda: _answers(bench))
        await bench.start_long()
        assert (await bench.calls.post("cancel")).status == 200
        await bench.until(State.CANCELLED)

    def test_wrong_credentials_are_told_as_such(self, rig: PrinterRig, tmp_path: Path) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S), rig.open():
                setup = rig.with_wrong_credentials(machine(rig, tmp_path))
                if setup is None:  # this platform asks for none
                    async with adapter_at(rig, machine(rig, tmp_path)) as bench:
                        await bench.until_true("a status", lambda: _answers(bench))
                    return
                async with adapter_at(rig, setup) as bench:
                    refused = await bench.until_refused(NOT_AUTHORIZED)
                    _assert_tells_no_secret(refused.error, setup.api_key, setup.password)
                    assert (await bench.calls.post("cancel")).status == NOT_AUTHORIZED

        rig.run(body())


async def _is_lost(bench: Bench) -> bool:
    return bench.printer.view.trouble is not None


async def _answers(bench: Bench) -> bool:
    return (await bench.calls.get("status")).status == 200


def _assert_tells_no_secret(sentence: str, *secrets: str | None) -> None:
    for secret in secrets:
        assert secret is None or secret not in sentence
