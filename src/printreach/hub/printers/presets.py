"""Presets: those that an account has, and those that a printer's own software keeps."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.contract.temperatures import Preset, PresetList
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.limiters.fair_semaphore import FairSemaphore
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.commands import DEFAULT_LIMITS
from printreach.rules.printers.presets import (
    USUAL_PRESETS,
    moved_up,
    preset_named,
    put_preset,
    usable_presets,
    without_preset,
)
from printreach.store.store import Records

GONE: Final = Denied(Reason.STEP_OVER, N_("This preset has since been removed."))
TTL: Final = timedelta(seconds=30)
MAX_PRINTERS: Final = 1000
"""In memory, some 5 KB each."""
MAX_AT_ONCE: Final = 16


class _Envelope(msgspec.Struct, rename="pascal"):
    result: PresetList


_presets: Final = msgspec.json.Decoder(_Envelope)


@dataclass(frozen=True, slots=True)
class _Told:
    at: datetime
    presets: Sequence[Preset]


@dataclass(kw_only=True, slots=True)
class Presets:
    """The use cases about presets. Owned by the process; close() ends what is under way."""

    core: Core
    http: PrinterHttp
    _told: OrderedDict[OwnedPrinter, _Told] = field(default_factory=OrderedDict)
    _asking: dict[OwnedPrinter, asyncio.Task[None]] = field(default_factory=dict)
    _slots: FairSemaphore = field(default_factory=lambda: FairSemaphore(MAX_AT_ONCE))

    async def close(self) -> None:
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def of_account(self, account_id: str) -> Sequence[Preset]:
        return await self.core.store.read(lambda records: _of_account(records, account_id))

    async def put(self, account_id: str, preset: Preset, replaced: str) -> Denied | None:
        """Add a preset, or change the one of the replaced name."""

        async def put(records: Records) -> Denied | None:
            presets = await _of_account(records, account_id)
            if replaced and preset_named(presets, replaced) is None:
                return GONE
            changed = put_preset(presets, preset, replaced)
            if isinstance(changed, str):
                return Denied(Reason.INVALID, changed)
            await records.presets.put(account_id, changed)
            return None

        return await self.core.store.write(put)

    async def remove(self, account_id: str, name: str) -> None:
        await self._change(account_id, lambda presets: without_preset(presets, name))

    async def move_up(self, account_id: str, name: str) -> None:
        await self._change(account_id, lambda presets: moved_up(presets, name))

    async def of_printer(self, printer: OwnedPrinter, within_s: float) -> Sequence[Preset]:
        """Return what the printer's own software keeps, asking it if that was not done recently.

        Empty where it keeps none, can't be asked, or its agent is an older one.
        """
        told = self._told.get(printer)
        is_recent = told is not None and abs(self.core.clock.now() - told.at) < TTL
        if not is_recent and printer not in self._asking:
            task = self._asking[printer] = asyncio.create_task(self._ask(printer))
            task.add_done_callback(lambda _: self._asking.pop(printer, None))
        if not is_recent and (running := self._asking.get(printer)) is not None:
            await asyncio.wait([running], timeout=within_s)
        told = self._told.get(printer)
        return told.presets if told is not None else ()

    async def _ask(self, printer: OwnedPrinter) -> None:
        async with self._slots.slot(printer.account_id):
            answer = await self.http.ask(printer, "/presets")
        before = self._told.pop(printer, None)
        presets = before.presets if before is not None else ()
        if not isinstance(answer, PrinterRefusal):
            presets = read_presets(answer)
        self._told[printer] = _Told(self.core.clock.now(), presets)
        if len(self._told) > MAX_PRINTERS:
            self._told.popitem(last=False)

    async def _change(
        self, account_id: str, change: Callable[[Sequence[Preset]], tuple[Preset, ...]]
    ) -> None:
        async def write(records: Records) -> None:
            presets = change(await _of_account(records, account_id))
            await records.presets.put(account_id, presets)

        await self.core.store.write(write)


def read_presets(body: bytes) -> Sequence[Preset]:
    """Parse the agent's answer to `/presets`; what can't be read or ordered is left out."""
    try:
        told = _presets.decode(body).result.presets
    except BAD_JSON:
        return ()
    return usable_presets(told, DEFAULT_LIMITS)


async def _of_account(records: Records, account_id: str) -> Sequence[Preset]:
    kept = await records.presets.of_account(account_id)
    return USUAL_PRESETS if kept is None else kept
