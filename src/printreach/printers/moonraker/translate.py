"""Translates the reports of Klipper and Moonraker into the types of the contract.

Macros show questions in the web interfaces by lines of G-code answers: `// action:prompt_begin`
with a title, `prompt_text` with more, `prompt_show`, and `prompt_end` when it is answered. Source:
Klipper's command reference, RESPOND, and Mainsail's page on macro prompts. And a print is paused
where a filament sensor sees none.
"""

from dataclasses import dataclass
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.contract.status import Adjustments, CurrentPrint, JobStatus, Light, State, Temps
from printreach.contract.unset import UNSET
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.port import Trouble, View
from printreach.rules.prints import Need, NeedKind, need_of_words

from .machine import LightKind, LightSource, features_of
from .materials import materials_of
from .status import (
    KnownState,
    active_extruder,
    all_lights,
    is_under_way,
    obj,
    progress_of,
    state_of,
    total_layers,
)

MAX_WORDS_CHARS = 200

READY = "ready"
EXTRAPOLATES_FROM = 0.1
"""The share of a file from which a print's slow beginning no longer distorts the estimate."""
_STARTING = N_("Klipper at %(host)s is starting.")
_DISCONNECTED = N_("Moonraker at %(host)s has no connection to Klipper.")
_NOT_READY = {
    "startup": (_STARTING, _STARTING),
    "disconnected": (_DISCONNECTED, _DISCONNECTED),
    "shutdown": (
        N_("Klipper at %(host)s has shut down."),
        N_("Klipper at %(host)s has shut down: %(words)s."),
    ),
    "error": (
        N_("Klipper at %(host)s reports an error."),
        N_("Klipper at %(host)s reports an error: %(words)s."),
    ),
}
_OTHERWISE = (
    N_("Klipper at %(host)s is not ready."),
    N_("Klipper at %(host)s is not ready: %(words)s."),
)
"""Without and with the words that Klipper gives."""
_BROKEN_DOWN = frozenset({"shutdown", "error"})
"""Klipper goes on from there only by a restart, which no print survives."""
_ACTION: Final = "// action:prompt_"
_MAX_WORDS_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that is being built or shown. words: its text so far."""

    words: str = ""
    is_shown: bool = False


NO_PROMPT: Final = Prompt()


def view_of(known: KnownState, version: str, prompt: Prompt = NO_PROMPT) -> View:
    """While Klipper is ready. prompt: what macros show at present."""
    lights = lights_of(known)
    return View(
        trouble=None,
        job=_job(known, lights),
        features=features_of(known.machine, has_light=bool(lights)),
        platform_version=version,
        materials=materials_of(known),
        need=need_of(known, prompt),
        z_offset_mm=_z_offset_mm(known),
    )


def trouble_of(klippy_state: str, message: str | None, where: str) -> Trouble:
    """While it is not. where: the address, for people."""
    words = shortened(message)
    plain, explained = _NOT_READY.get(klippy_state, _OTHERWISE)
    return Trouble(
        status=CommandStatus.NOT_CONNECTED,
        sentence=in_english(explained if words else plain, host=where, words=words),
        is_fault=klippy_state in _BROKEN_DOWN,
        has_lost_firmware=True,
    )


def lights_of(known: KnownState) -> list[Light]:
    return [_light(known, light) for light in all_lights(known)]


def full_value(known: KnownState, light: LightSource) -> float:
    """Return what turns a pin fully on: 1, or the scale that its owner gave it."""
    scale = loose.number(loose.obj(known.settings, light.key), "scale")
    return scale if scale is not None and scale > 0 else 1.0


def _job(known: KnownState, lights: list[Light]) -> JobStatus:
    state = state_of(known)
    stats = obj(known, "print_stats")
    error = None
    if state is State.ERROR:
        error = shortened(loose.text(stats, "message")) or N_("The print failed.")
    message = shortened(loose.text(obj(known, "display_status"), "message"))
    return JobStatus(
        state=state,
        sub_state=message if is_under_way(known) else None,
        error=error,
        lights=lights or None,
        current_print=_print(known, state),
        adjustments=_adjustments(known),
    )


def _adjustments(known: KnownState) -> Adjustments:
    move = obj(known, "gcode_move")
    return Adjustments(
        speed_percent=loose.known(loose.percent_of(move, "speed_factor")),
        flow_percent=loose.known(loose.percent_of(move, "extrude_factor")),
        fan_percent=loose.known(loose.percent_of(obj(known, "fan"), "speed")),
        z_offset_mm=loose.known(_z_offset_mm(known)),
    )


def _print(known: KnownState, state: State) -> CurrentPrint:
    weight_mg = known.metadata.filament_mg
    has_print = state is not State.IDLE
    return CurrentPrint(
        progress=_percent(known, state),
        duration_sec=_duration_s(known) if has_print else 0,
        time_left_sec=_time_left_s(known, state),
        file_name=known.latest.path.rpartition("/")[2],
        est_total_fil_used_mm=_filament_total_mm(known, state) if has_print else 0,
        est_total_fil_weight_mg=weight_mg if weight_mg is not None and has_print else UNSET,
        current_layer=known.latest.layer if has_print else None,
        total_layers=total_layers(known) if has_print else None,
        temps=_temps(known),
    )


def _percent(known: KnownState, state: State) -> float:
    if state is State.COMPLETE:
        return 100.0
    return 0.0 if state is State.IDLE else round(known.latest.progress * 100, 2)


def _duration_s(known: KnownState) -> int:
    """Return the printing time without warming up. A print without any extrusion has none."""
    stats = obj(known, "print_stats")
    printed_s = loose.count(stats, "print_duration") or 0
    if printed_s or is_under_way(known):
        return printed_s
    return loose.count(stats, "total_duration") or 0


def _time_left_s(known: KnownState, state: State) -> int | None:
    """Return the time left by the slicer's estimate, else by the time and progress so far."""
    if state is State.COMPLETE:
        return 0
    if not is_under_way(known):
        return None
    progress = progress_of(known)
    estimated_s = known.metadata.estimated_s
    if estimated_s is not None:
        speed = loose.number(obj(known, "gcode_move"), "speed_factor") or 0.0
        left_s = estimated_s * (1 - progress) / (speed if speed > 0 else 1.0)
    else:
        printed_s = loose.number(obj(known, "print_stats"), "print_duration") or 0.0
        if progress <= 0 or printed_s <= 0:
            return None
        left_s = printed_s / progress - printed_s
    return int(min(max(left_s, 0.0), loose.MAX_INT))


def _filament_total_mm(known: KnownState, state: State) -> int:
    """Return the whole print's length: by the slicer, else from what was used so far.

    0 for unknown: the first lines prime the nozzle, so they tell nothing of the rest.
    """
    if known.metadata.filament_mm is not None:
        return known.metadata.filament_mm
    progress = 1.0 if state is State.COMPLETE else known.latest.progress
    used_mm = loose.number(obj(known, "print_stats"), "filament_used") or 0.0
    if progress < EXTRAPOLATES_FROM or used_mm <= 0:
        return 0
    return int(min(used_mm / progress, loose.MAX_INT))


def _temps(known: KnownState) -> Temps:
    hotend, bed = obj(known, active_extruder(known)), obj(known, "heater_bed")
    chamber = obj(known, known.machine.chamber)
    actual, target = loose.number(chamber, "temperature"), loose.number(chamber, "target")
    return Temps(
        bed_actual=loose.number(bed, "temperature") or 0.0,
        bed_target=loose.number(bed, "target") or 0.0,
        hotend_actual=loose.number(hotend, "temperature") or 0.0,
        hotend_target=loose.number(hotend, "target") or 0.0,
        chamber_actual=loose.known(actual),
        chamber_target=loose.known(target),
    )


def _light(known: KnownState, light: LightSource | Light) -> Light:
    if isinstance(light, Light):
        return light
    at = obj(known, light.key)
    if light.kind is LightKind.PIN:
        return Light(name=light.name, on=(loose.number(at, "value") or 0.0) > 0)
    colours = [colour for led in loose.items(at, "color_data") for colour in _numbers(led)]
    return Light(name=light.name, on=any(colour > 0 for colour in colours))


def _z_offset_mm(known: KnownState) -> float | None:
    """Return the offset set by SET_GCODE_OFFSET, which people use during the first layer."""
    origin: list[object] = loose.items(obj(known, "gcode_move"), "homing_origin")
    return loose.as_number(origin[2]) if len(origin) > 2 else None


def _numbers(values: object) -> list[float]:
    if not isinstance(values, list):
        return []
    read = (loose.as_number(value) for value in values)
    return [value for value in read if value is not None]


def shortened(message: str | None) -> str | None:
    """Return one line without its full stop; None for nothing.

    Klipper explains itself over several lines, of which the first says what is wrong.
    """
    lines = [line.strip() for line in (message or "").splitlines()]
    first = next((line for line in lines if line), "")
    return first.removeprefix("!! ")[:MAX_WORDS_CHARS].rstrip(". ") or None


def with_line(prompt: Prompt, line: str) -> Prompt:
    """prompt after one line that Klipper answered."""
    if not line.startswith(_ACTION):
        return prompt
    action, _, words = line.removeprefix(_ACTION).partition(" ")
    match action.strip():
        case "begin":
            return Prompt(words.strip()[:_MAX_WORDS_CHARS])
        case "text":
            joined = ": ".join(word for word in (prompt.words, words.strip()) if word)
            return Prompt(joined[:_MAX_WORDS_CHARS], prompt.is_shown)
        case "show":
            return Prompt(prompt.words, is_shown=True)
        case "end":
            return NO_PROMPT
        case _:
            return prompt


def need_of(known: KnownState, prompt: Prompt) -> Need | None:
    """Return a question that is shown, else missing filament while the print is paused."""
    if prompt.is_shown:
        return need_of_words(prompt.words)
    if state_of(known) is State.PAUSED and _is_out_of_filament(known):
        return Need(kind=NeedKind.FILAMENT, text="The filament ran out.")
    return None


def _is_out_of_filament(known: KnownState) -> bool:
    return any(
        loose.flag(obj(known, name), "enabled") is True
        and loose.flag(obj(known, name), "filament_detected") is False
        for name in known.machine.filament_sensors
    )
