"""Translates a Bambu printer's AMS units, spools and nozzles. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from printreach.contract.materials import (
    Capabilities,
    Material,
    MaterialSystem,
    Route,
    Source,
    Tool,
    Unit,
)
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose
from printreach.printers.loose import Json

TRAYS_A_UNIT = 4
MAX_NUMBERED_UNIT = 16
"""Units above it count their trays in another way, which is not known."""
EXTERNAL, NO_TRAY = 254, 255
EXTERNAL_ID = "bambu-external"
EXTERNAL_MAPPING = -1

_DRYING_UNITS = ("n3f/", "n3s/")
"""Modules of an AMS 2 Pro and an AMS HT; `ams/` and `ams_f1/` are of an AMS and an AMS lite, which
only keep their filament dry. Source: what public clients read out of get_version."""

_COLOR = re.compile(r"[0-9A-Fa-f]{6}")
_TRANSPARENT = "00000000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extruder:
    """One of the two extruders of an H2 printer."""

    number: int
    actual_c: float | None
    target_c: float | None


def extruders_of(report: Json) -> list[Extruder]:
    """Return the extruders.

    None for printers with one nozzle, whose values are in the report itself.
    """
    part = loose.obj(report, "extruder") or loose.obj(report, "device", "extruder")
    extruders = {}
    for entry in loose.items(part, "info"):
        number, packed = loose.count(entry, "id"), loose.size(entry, "temp")
        if number is None or number > 15:
            continue
        known = packed is not None and packed < 1 << 32
        extruders[number] = Extruder(
            number=number,
            actual_c=float(packed & 0xFFFF) if known and packed is not None else None,
            target_c=float(packed >> 16) if known and packed is not None else None,
        )
    return [extruders[number] for number in sorted(extruders)]


def materials_of(report: Json, modules: Sequence[Json] = ()) -> MaterialSystem:
    """modules: of the answer to get_version, which tell the units' models."""
    extruders = extruders_of(report)
    has_two = len(extruders) > 1
    ams = loose.obj(report, "ams")
    numbered = {_number(unit): unit for unit in map(loose.obj, loose.items(ams, "ams"))}
    units = [unit for number, unit in numbered.items() if number is not None]
    sources = [
        *(source for unit in units for source in _sources_in(unit, ams)),
        *_external_sources(report, has_two=has_two),
    ]
    once = {source.id: source for source in sources}.values()
    sources = [structs.replace(source, index=index) for index, source in enumerate(once)]
    tools = [_numbered_tool(extruders, index) for index in range(len(extruders))] if has_two else []
    filament_units = [_unit(index, unit) for index, unit in enumerate(units)]
    return MaterialSystem(
        capabilities=Capabilities(
            supports_multi_material=bool(units),
            supports_multi_tool=has_two,
            supports_source_routing=bool(units) and not has_two,
            supports_drying=_can_dry(modules)
            or any(unit.is_drying is True for unit in filament_units),
        ),
        sources=sources,
        tools=tools or [_only_tool(report)],
        units=filament_units,
        routes=[] if has_two else _routes(ams, {source.id for source in sources}),
    )


def _can_dry(modules: Sequence[Json]) -> bool:
    """Return whether one of the units has a heater."""
    names = [loose.text(module, "name") or "" for module in modules]
    return any(name.startswith(_DRYING_UNITS) for name in names)


def _number(entry: Json) -> int | None:
    number = loose.count(entry, "id")
    return number if number is not None and number < 1000 else None


def _unit(index: int, unit: Json) -> Unit:
    number = _number(unit)
    humidity, level = loose.number(unit, "humidity_raw"), loose.count(unit, "humidity")
    celsius, drying = loose.number(unit, "temp"), loose.count(unit, "dry_time")
    return Unit(
        id=f"bambu-ams-{number}",
        index=index,
        name=f"AMS {(number or 0) + 1}",
        humidity_percent=_in_percent(humidity),
        temperature_celsius=loose.known(celsius),
        is_drying=UNSET if drying is None else drying > 0,
        platform_details=UNSET if level is None else {"HumidityLevel": level},
    )


def _sources_in(unit: Json, ams: Json) -> list[Source]:
    number = _number(unit) or 0
    trays = [
        (position, loose.obj(tray))
        for tray in loose.items(unit, "tray")
        if (position := _number(loose.obj(tray))) is not None
    ]
    return [_source_in(number, position, tray, ams) for position, tray in trays]


def _source_in(unit: int, position: int, tray: Json, ams: Json) -> Source:
    slot = unit * TRAYS_A_UNIT + position
    is_numbered = unit < MAX_NUMBERED_UNIT and position < TRAYS_A_UNIT
    there = _bit(ams, "tray_exist_bits", slot) if is_numbered else None
    is_original = is_numbered and _bit(ams, "tray_is_bbl_bits", slot) is True
    return Source(
        id=f"bambu-ams-{unit}-{position}",
        index=0,
        name=f"AMS {unit + 1} slot {position + 1}",
        unit_id=f"bambu-ams-{unit}",
        position=position,
        print_mapping_value=slot if is_numbered else UNSET,
        is_empty=UNSET if there is None else not there,
        material=_material(tray, is_original=is_original) if there is not False else UNSET,
    )


def _external_sources(report: Json, *, has_two: bool) -> list[Source]:
    """Return the external spool; an H2 printer has one for each nozzle."""
    slots = [loose.obj(slot) for slot in loose.items(report, "vir_slot")]
    if has_two and slots:
        return [
            Source(
                id=f"{EXTERNAL_ID}-{number}",
                index=0,
                name=f"External spool {number + 1}",
                material=_material(slot, is_original=False),
            )
            for number, slot in enumerate(slots)
        ]
    tray = loose.obj(report, "vt_tray") or (slots[0] if slots else {})
    return [
        Source(
            id=EXTERNAL_ID,
            index=0,
            name="External spool",
            print_mapping_value=EXTERNAL_MAPPING,
            material=_material(tray, is_original=False),
        )
    ]


def _material(tray: Json, *, is_original: bool) -> Material | UnsetType:
    kind = loose.text(tray, "tray_type")
    if kind is None:
        return UNSET
    name = loose.text(tray, "tray_sub_brands") or loose.text(tray, "tray_id_name")
    return Material(
        type=kind,
        name=loose.known(name),
        color_hex=_color(loose.text(tray, "tray_color")),
        remaining_percent=_in_percent(loose.number(tray, "remain")) if _has_tag(tray) else UNSET,
        manufacturer="Bambu Lab" if is_original else UNSET,
    )


def _color(text: str | None) -> str | UnsetType:
    if text is None or text == _TRANSPARENT or not _COLOR.match(text):
        return UNSET
    return text[:6].upper()


def _has_tag(tray: Json) -> bool:
    """Return whether the spool's tag measures the remaining amount; without one it is guessed."""
    return any((loose.text(tray, key) or "0").strip("0") for key in ("tag_uid", "tray_uuid"))


def _in_percent(value: float | None) -> float | UnsetType:
    return value if value is not None and 0 <= value <= 100 else UNSET


def _bit(ams: Json, key: str, number: int) -> bool | None:
    """Return a bit of a number in hexadecimal text."""
    text = loose.text(ams, key)
    try:
        return None if text is None else bool(int(text[:32], 16) >> number & 1)
    except ValueError:
        return None


def _only_tool(report: Json) -> Tool:
    actual_c, target_c = (
        loose.number(report, key) for key in ("nozzle_temper", "nozzle_target_temper")
    )
    diameter = loose.number(report, "nozzle_diameter")
    return Tool(
        id="bambu-tool-0",
        index=0,
        name="Nozzle",
        is_active=True,
        is_present=True,
        actual_celsius=loose.known(actual_c),
        target_celsius=loose.known(target_c),
        nozzle_diameter_mm=loose.known(diameter),
    )


def _numbered_tool(extruders: list[Extruder], index: int) -> Tool:
    """Return one of several tools; which of them is active is not known."""
    extruder = extruders[index]
    return Tool(
        id=f"bambu-tool-{extruder.number}",
        index=index,
        name=f"Nozzle {extruder.number + 1}",
        actual_celsius=UNSET if extruder.actual_c is None else extruder.actual_c,
        target_celsius=UNSET if extruder.target_c is None else extruder.target_c,
    )


def _routes(ams: Json, sources: set[str]) -> list[Route]:
    """Return what is in the nozzle, and what is on its way there."""
    now, target = loose.count(ams, "tray_now"), loose.count(ams, "tray_tar")
    trays = [(now, "loaded")]
    if target != now:
        trays.append((target, "loading"))
    return [
        Route(source_id=source, tool_id="bambu-tool-0", state=state)
        for number, state in trays
        if (source := _source_id(number)) is not None and source in sources
    ]


def _source_id(number: int | None) -> str | None:
    if number is None or number == NO_TRAY:
        return None
    if number == EXTERNAL:
        return EXTERNAL_ID
    return f"bambu-ams-{number // TRAYS_A_UNIT}-{number % TRAYS_A_UNIT}"
