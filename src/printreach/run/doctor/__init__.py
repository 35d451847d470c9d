"""`printreach admin doctor`: says what of the service's surroundings is wrong, and what to do."""

import argparse
import os
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Final

from printreach.backends.clock import SystemClock
from printreach.backends.lookups import Lookups
from printreach.run.admin_world import Result, Subparsers, add_settings_command
from printreach.run.doctor.findings import Check, Finding, Verdict, examine
from printreach.run.doctor.machine import MachineChecks, has_newest_schema
from printreach.run.doctor.network import NetworkChecks, WebProbe
from printreach.run.settings import Settings
from printreach.store.store import Store, open_store

_MARKS: Final = {Verdict.OK: "ok     ", Verdict.WARNING: "WARNING", Verdict.FAILURE: "FAILURE"}


def add_doctor_command(subjects: Subparsers) -> None:
    """Declare the command."""
    add_settings_command(subjects, "doctor", diagnose, "check what the service depends on")


async def diagnose(settings: Settings, _: argparse.Namespace) -> Result:
    async with AsyncExitStack() as ends:
        lookups = Lookups()
        ends.push_async_callback(lookups.close)
        store = await _usable_store(settings, ends)
        found = await examine(checks_of(settings, WebProbe(look_up=lookups), store))
    failed = [name for name, finding in found.items() if finding.verdict is Verdict.FAILURE]
    return Result(
        {"Checks": [_as_json(name, finding) for name, finding in found.items()]},
        "\n".join(line for name, finding in found.items() for line in _lines(name, finding)),
        failure=f"These checks failed: {', '.join(failed)}." if failed else None,
    )


def checks_of(settings: Settings, probe: WebProbe, store: Store | None) -> Mapping[str, Check]:
    """Return all checks by their names, in the order in which they are told."""
    clock = SystemClock()
    network = NetworkChecks(
        settings=settings,
        environ=os.environ,
        probe=probe,
        unused_label=f"doctor-{secrets.token_hex(8)}",
        at=clock.now(),
    )
    machine = MachineChecks(settings=settings, probe=probe, store=store, now=clock.now)
    return {
        "addresses": network.addresses,
        "dns": network.dns,
        "wildcard": network.wildcard,
        "certificate": network.certificate,
        "service": network.service,
        "printer-hosts": network.printer_hosts,
        "clock": machine.clock,
        "database": machine.database,
        "bus": machine.bus,
        "storage": machine.storage,
        "mail": machine.mail,
        "printers": machine.printers,
    }


async def _usable_store(settings: Settings, ends: AsyncExitStack) -> Store | None:
    """Open the database where that neither creates nor migrates it."""
    if not await has_newest_schema(settings.database):
        return None
    return await ends.enter_async_context(open_store(settings.database))


def _as_json(name: str, finding: Finding) -> Mapping[str, str]:
    return {
        "Check": name,
        "Result": finding.verdict.value,
        "Says": finding.sentence,
        "Advice": finding.advice,
    }


def _lines(name: str, finding: Finding) -> list[str]:
    said = f"{_MARKS[finding.verdict]}  {name:13}  {finding.sentence}"
    return [said, f"{'':24}{finding.advice}"] if finding.advice else [said]
