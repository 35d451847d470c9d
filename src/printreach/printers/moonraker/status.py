"""The known state of a Klipper printer, and how reported changes update it. Pure.

Klipper tells an object's fields once, and then those that have changed. Some things it forgets at a
print's end (how far it came, its layer), which people still want to see; they are remembered here.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from printreach.contract.status import UNDER_WAY, Light, State
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.print_progress import PrintProgress, PrintReport, positions

from .entries import NOTHING_KNOWN, Metadata
from .machine import NO_MACHINE, LightSource, Machine
from .spools import Spool

WARMED_UP_S = 0.00001
"""print_duration counts from the first extrusion on, as a sum of floats that may not be quite 0."""

START_BYTES = 4096
START_SHARE = 0.25
"""The bytes of a file that its start takes, or the share of a shorter file.
Slicers write 1 to 3 KB of moves and waits there. A print that has read more and heats nothing
prints, whether it extrudes or not: plotters, lasers and dry runs never do."""
START_S = 10.0
"""A print is not past its start before. At first Klipper reports the position of the print before,
and it reads a small file at once."""
HEATED_WITHIN_C = 10.0
"""How far below its target a heater may be that is hot enough: its readings swing."""

DONE = 0.995
"""The share of a file after which a print whose end was not seen is taken for complete."""

_STATES = {
    "standby": State.IDLE,
    "paused": State.PAUSED,
    "complete": State.COMPLETE,
    "cancelled": State.CANCELLED,
    "error": State.ERROR,
}


@dataclass(frozen=True, slots=True)
class Latest:
    """The print under way or the latest one, as far as it was observed. progress: 0.0 to 1.0."""

    path: str = ""
    progress: float = 0.0
    layer: int | None = None


NO_PRINT = Latest()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """objects: as Klipper reports them. settings: of its configuration. metadata: of the file that
    is printed. power: the lights that Moonraker itself switches. spool: the one Spoolman names.
    began_s: when the latest print began, by Klipper's steady clock; None where it isn't known.
    """

    machine: Machine = NO_MACHINE
    objects: Mapping[str, Json] = field(default_factory=dict)
    settings: Json = field(default_factory=dict)
    metadata: Metadata = NOTHING_KNOWN
    power: tuple[Light, ...] = ()
    spool: Spool | None = None
    latest: Latest = NO_PRINT
    began_s: float | None = None


def with_changes(known: KnownState, changes: object, clock_s: float | None = None) -> KnownState:
    """changes: objects with those of their fields that have changed. clock_s: of Klipper, then.

    A print's total_duration is what has passed on that clock since its start, pauses included.
    Source: print_stats.py of Klipper.
    """
    objects: dict[str, Json] = dict(known.objects)
    for name, fields in loose.obj(changes).items():
        changed = loose.obj(fields)
        if changed:
            objects[name] = {**objects.get(name, loose.EMPTY), **changed}
    after = replace(known, objects=objects)
    if print_path(known) not in ("", print_path(after)):
        after = replace(after, metadata=NOTHING_KNOWN)  # it was of another file
    passed_s = loose.number(loose.obj(changes, "print_stats"), "total_duration")
    if passed_s is not None:
        after = replace(after, began_s=None if clock_s is None else clock_s - passed_s)
    return replace(after, latest=_latest(after, known))


def steps_to(known: KnownState, changes: object, clock_s: float | None = None) -> list[KnownState]:
    """Return the state after these changes, and before it the states that were not reported.

    Klipper reports four times a second. A print's total_duration only grows, and stays as it is
    once the print has ended: whatever else it does, another print has begun since.
    """
    after = with_changes(known, changes, clock_s)
    if not _is_another_print(known, after):
        return [after]
    steps = [known]
    if is_under_way(known):
        steps.append(with_changes(known, {"print_stats": {"state": _unreported_end(known)}}))
    if not is_under_way(after):
        steps.append(with_changes(steps[-1], _start_of(print_path(after))))
    # What was told of the print before is not told again where it is the same.
    whole = {name: obj(after, name) for name in ("print_stats", "virtual_sdcard")}
    return [*steps[1:], with_changes(steps[-1], {**loose.obj(changes), **whole}, clock_s)]


def _is_another_print(before: KnownState, after: KnownState) -> bool:
    was_s, is_s = (
        loose.number(obj(state, "print_stats"), "total_duration") for state in (before, after)
    )
    if was_s is None or is_s is None or state_of(after) is State.IDLE:
        return False
    return is_s < was_s if is_under_way(before) else is_s != was_s and not is_under_way(after)


def _start_of(path: str) -> Json:
    """Return the changes of a print that has just begun."""
    counts = dict.fromkeys(("total_duration", "print_duration", "filament_used"), 0.0)
    return {
        "print_stats": {"filename": path, "state": "printing", **counts},
        "virtual_sdcard": {"progress": 0.0, "file_position": 0},
    }


def _unreported_end(known: KnownState) -> str:
    return "complete" if progress_of(known) >= DONE else "cancelled"


def state_of(known: KnownState) -> State:
    stats = obj(known, "print_stats")
    word = loose.text(stats, "state")
    if word == "printing":
        printed_s = loose.number(stats, "print_duration")
        if printed_s is None:
            return State.WARMING_UP
        has_begun = printed_s >= WARMED_UP_S or _runs_without_extruding(known)
        return State.PRINTING if has_begun else State.WARMING_UP
    return _STATES.get(word or "", State.IDLE)


def _runs_without_extruding(known: KnownState) -> bool:
    """Whether the print is past the start of its file, and waits for no heater."""
    if (loose.number(obj(known, "print_stats"), "total_duration") or 0.0) < START_S:
        return False
    first, last = known.metadata.first_byte, known.metadata.last_byte
    position = loose.number(obj(known, "virtual_sdcard"), "file_position")
    if position is None or first is None or last is None:
        is_past_start = progress_of(known) >= START_SHARE
    else:
        is_past_start = position - first >= min(START_BYTES, START_SHARE * (last - first))
    return is_past_start and not _is_heating(known)


def _is_heating(known: KnownState) -> bool:
    return any(
        (loose.number(obj(known, heater), "temperature") or 0.0) < target - HEATED_WITHIN_C
        for heater, target in heater_targets(known).items()
    )


def is_under_way(known: KnownState) -> bool:
    return state_of(known) in UNDER_WAY


def print_path(known: KnownState) -> str:
    """Return the file that is or was printed, below the root; "" for none."""
    return loose.text(obj(known, "print_stats"), "filename") or ""


def progress_of(known: KnownState) -> float:
    """0.0 to 1.0, of a print under way.

    By how much of the G-code was read; pictures and settings around it don't count.
    """
    card = obj(known, "virtual_sdcard")
    metadata = known.metadata
    position = loose.number(card, "file_position")
    if position is not None and metadata.first_byte is not None and metadata.last_byte is not None:
        length = metadata.last_byte - metadata.first_byte
        if length > 0:
            return _clamped((position - metadata.first_byte) / length)
    return _clamped(loose.number(card, "progress") or 0.0)


def selected_extruder(known: KnownState) -> str | None:
    """Return the object of the extruder in use; None where Klipper doesn't tell."""
    name = loose.text(obj(known, "toolhead"), "extruder")
    return name if name in known.machine.extruders else None


def active_extruder(known: KnownState) -> str | None:
    """Return the extruder for orders and temperatures: the selected one, else the first."""
    extruders = known.machine.extruders
    return selected_extruder(known) or (extruders[0] if extruders else None)


def is_homed(known: KnownState) -> bool:
    """Whether Klipper knows where the nozzle is, in each direction."""
    return set("xyz") <= set(loose.text(obj(known, "toolhead"), "homed_axes") or "")


def all_lights(known: KnownState) -> list[LightSource | Light]:
    """Klipper's own, and those that Moonraker switches; a name is taken once."""
    named: dict[str, LightSource | Light] = {light.name: light for light in known.machine.lights}
    for light in known.power:
        named.setdefault(light.name, light)
    return list(named.values())


def obj(known: KnownState, name: str | None) -> Json:
    """Return an object's fields; an empty one where there is none."""
    return known.objects.get(name or "", loose.EMPTY)


def heater_targets(known: KnownState) -> dict[str, float]:
    """Return the targets of the active hotend and the bed, where they are on."""
    heaters = (active_extruder(known), "heater_bed")
    targets = {h: loose.positive(obj(known, h), "target") for h in heaters if h}
    return {
        heater: target for heater, target in targets.items() if target is not None and target > 0
    }


def print_report(known: KnownState) -> PrintReport:
    """The print as it is now."""
    state = state_of(known)
    return PrintReport(
        state=state,
        is_paused=state is State.PAUSED,
        path=print_path(known),
        progress=PrintProgress(
            duration_s=loose.number(obj(known, "print_stats"), "total_duration"),
            began_s=known.began_s,
            position=positions(loose.number(obj(known, "virtual_sdcard"), "file_position")),
        ),
    )


def total_layers(known: KnownState) -> int | None:
    info = loose.obj(obj(known, "print_stats"), "info")
    return loose.count(info, "total_layer") or known.metadata.layers


def _latest(after: KnownState, before: KnownState) -> Latest:
    path = print_path(after) or after.latest.path
    if not is_under_way(after):
        return replace(after.latest, path=path)
    is_new = not is_under_way(before) or path != after.latest.path
    latest = Latest(path) if is_new else after.latest
    return Latest(path, progress_of(after), _layer(after, latest.layer))


def _layer(known: KnownState, before: int | None) -> int | None:
    """Return the layer as the slicer tells it, else from the nozzle's height while it prints."""
    info = loose.obj(obj(known, "print_stats"), "info")
    reported = loose.count(info, "current_layer")
    if reported is not None:
        return reported
    if state_of(known) is not State.PRINTING:
        return before
    layer_mm, first_mm = known.metadata.layer_mm, known.metadata.first_layer_mm
    height_mm = _height_mm(obj(known, "gcode_move"))
    if layer_mm is None or first_mm is None or height_mm is None:
        return before
    most = total_layers(known) or loose.MAX_INT
    above = min(max((height_mm - first_mm) / layer_mm, -1.0), float(most))  # may be infinite
    return max(0, min(math.ceil(round(above, 3)) + 1, most))


def _height_mm(move: Json) -> float | None:
    position: list[Any] = loose.items(move, "gcode_position")
    return loose.as_number(position[2]) if len(position) > 2 else None


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))
