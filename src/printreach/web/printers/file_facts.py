"""What is known of one file before it is printed, as pages show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.contract.platforms import can_print
from printreach.contract.sizes import Number, Whole
from printreach.contract.status import UNDER_WAY
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import _, punctuated
from printreach.languages.values import decimal
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.accounts import cost_of
from printreach.rules.printers import Printer
from printreach.rules.printers.virtual_paths import VirtualPath
from printreach.web.printers.folders import Count, moment_of, thumbnail_query
from printreach.web.services import Services

Millimetres = Annotated[float, msgspec.Meta(ge=0, le=100_000)]
Words = Annotated[str, msgspec.Meta(max_length=512)]
_MAX_WORDS: Final = 60


class _Details(msgspec.Struct, kw_only=True, rename="pascal"):
    """The parts of `contract.files.FileDetails` that a page needs; 0 and "" are unknown."""

    virtual_path: str = ""
    size_bytes: Count | None = None
    modified_time_sec: Number = 0.0
    est_print_time_sec: Count = 0
    est_filament_used_mm: Count = 0
    est_filament_weight_mg: Count = 0
    layer_count: Count = 0
    layer_height_mm: Millimetres = 0.0
    filament_type: Words = ""
    slicer: Words = ""
    thumbnail_count: Whole = -1


class _Envelope(msgspec.Struct, rename="pascal"):
    result: _Details


_details = msgspec.json.Decoder(_Envelope)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileFacts:
    """path: its VirtualPath. thumbnail: the query of its picture's address, "" where it has none.

    time_s: 0 is unknown. refusal: why the printer tells nothing of it, else "". is_there: the
    printer told of it. is_empty: it has no bytes, so there is nothing to print.
    """

    name: str
    path: str
    is_printable: bool
    thumbnail: str
    time_s: int = 0
    filament: str = ""
    cost: str = ""
    layers: str = ""
    size_bytes: int = 0
    changed_at: datetime | None = None
    slicer: str = ""
    refusal: str = ""
    is_there: bool = False
    is_empty: bool = False


async def file_facts(services: Services, printer: Printer, path: VirtualPath) -> FileFacts:
    """Ask the printer for a file's details. Without them the facts are few."""
    price = await services.owner.filament_price(printer.account_id)
    name, is_printable = path.parts[-1], can_print(printer.platform, path.parts[-1])
    answer = await services.printer_http.ask(printer.owned, "/files/details", {"path": str(path)})
    details, refusal = _Details(), ""
    if isinstance(answer, PrinterRefusal):
        refusal = answer.sentence
    else:
        details = _parsed(answer)
    version = f"{details.modified_time_sec:.0f}-{details.size_bytes or 0}"
    has_thumbnail = is_printable and not refusal and details.thumbnail_count != 0
    return FileFacts(
        name=name,
        path=str(path),
        is_printable=is_printable,
        thumbnail=thumbnail_query(str(path), version) if has_thumbnail else "",
        time_s=details.est_print_time_sec,
        filament=_filament(details),
        cost=cost_of(price, details.est_filament_weight_mg),
        layers=_layers(details),
        size_bytes=details.size_bytes or 0,
        changed_at=moment_of(details.modified_time_sec),
        slicer=details.slicer[:_MAX_WORDS],
        refusal=refusal,
        is_there=details.virtual_path.casefold() == str(path).casefold(),
        is_empty=details.size_bytes == 0,
    )


def is_being_printed(seen: SeenPrinter, name: str) -> bool:
    """Return whether a file of that name is printed now, in whatever folder: printers report the
    name alone, and some leave out its ending.
    """
    if seen.reading.status is None:
        return False
    job = seen.reading.status.job_status
    printed = job.current_print.file_name.rpartition("/")[2]
    is_this = name == printed or (printed != "" and name.startswith(f"{printed}."))
    return job.state in UNDER_WAY and is_this


def _parsed(envelope: bytes) -> _Details:
    """Return the details; empty ones where a printer reported what none has."""
    try:
        return _details.decode(envelope).result
    except BAD_JSON:
        return _Details()


def _filament(details: _Details) -> str:
    """Return kind, weight and length, as far as they are known: "PLA, 18.8 g, 6.3 m"."""
    parts = [details.filament_type[:_MAX_WORDS]]
    if details.est_filament_weight_mg:
        parts.append(f"{decimal(details.est_filament_weight_mg / 1000, 1)} g")
    if details.est_filament_used_mm:
        parts.append(f"{decimal(details.est_filament_used_mm / 1000, 1)} m")
    return _listed(parts)


def _layers(details: _Details) -> str:
    """Return their number and height, as far as they are known: "60, 0.2 mm each"."""
    height = (
        _("%(layer_height_mm)s mm each", layer_height_mm=punctuated(f"{details.layer_height_mm:g}"))
        if details.layer_height_mm
        else ""
    )
    return _listed([f"{details.layer_count}" if details.layer_count else "", height])


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(part for part in parts if part)
