"""The data of one printer's own pages, and the template of its controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from litestar.response import Template

from printreach.contract.commands import SpeedLevel
from printreach.contract.materials import MaterialSystem
from printreach.contract.platforms import facts_of
from printreach.contract.status import (
    AT_WORK,
    NO_ADJUSTMENTS,
    NO_FEATURES,
    UNDER_WAY,
    Feature,
    JobStatus,
    Light,
    State,
    StatusResult,
)
from printreach.contract.temperatures import Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.hub.printers.own import SeenPrinter
from printreach.hub.printers.readings import Reading, TemperatureReading
from printreach.languages import N_, _, translate
from printreach.rules.printers import lan_page_at
from printreach.rules.printers.commands import (
    MAX_FAN_PERCENT,
    MAX_FLOW_PERCENT,
    MAX_SPEED_PERCENT,
    MIN_FLOW_PERCENT,
    MIN_SPEED_PERCENT,
)
from printreach.rules.printers.members import Role
from printreach.rules.prints import smart_pause_sentence
from printreach.web.printer_state import print_times
from printreach.web.printers.cards import (
    Card,
    Temp,
    Webcam,
    camera_label,
    card_of,
    temps_of,
    webcam_of,
)
from printreach.web.printers.materials import ToolRow, UnitRow, tells_anything, tools_of, units_of
from printreach.web.printers.temperature_chart import TemperatureChart, temperature_chart
from printreach.web.wording import degrees, percent

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_FAULT_STATUS: Final = 400


SIDE_BY_SIDE: Final = "all"
"""The value of an address that shows all cameras, in place of the index of one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CameraPicture:
    """A camera of several. still: its picture, small or beside others."""

    label: str
    still: Webcam


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjusted:
    """Something that is set in percent. argument: of the order, and of the status that tells it."""

    label: str
    argument: str
    feature: Feature
    least: int
    most: int


ADJUSTED: Final[Mapping[str, Adjusted]] = MappingProxyType(
    {
        "speed": Adjusted(
            label=N_("Speed"),
            argument="speed_percent",
            feature=Feature.SPEED_CONTROL,
            least=MIN_SPEED_PERCENT,
            most=MAX_SPEED_PERCENT,
        ),
        "flow": Adjusted(
            label=N_("Flow"),
            argument="flow_percent",
            feature=Feature.FLOW_CONTROL,
            least=MIN_FLOW_PERCENT,
            most=MAX_FLOW_PERCENT,
        ),
        "fan": Adjusted(
            label=N_("Fan"),
            argument="fan_percent",
            feature=Feature.FAN_CONTROL,
            least=0,
            most=MAX_FAN_PERCENT,
        ),
    }
)
"""By the name of the field that sets it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AdjustmentRow:
    """percent: what is in force; None where the platform doesn't tell."""

    name: str
    label: str
    least: int
    most: int
    percent: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PresetRow:
    """A preset with the heaters that the printer has. field: of the button that chooses it.

    short: "210°, 60°". targets: of all its heaters, by which an answer tells what it confirms.
    """

    field: str
    preset: Preset
    short: str
    targets: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedPresets:
    """The presets of the owner's account, and those that the printer's own software keeps."""

    of_account: Sequence[PresetRow] = ()
    of_printer: Sequence[PresetRow] = ()


NO_PRESETS: Final = OfferedPresets()


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterView:
    """The data of one printer for templates. may_...: supported by the printer, allowed in its
    state, and to the person who looks.

    last_known: of a printer that is offline, "80%, hotend 205°, bed 60°". lan_page: as
    rules.printers.lan_page_at gives it; for the owner alone. may_restart: only where the printer
    has failed, for it needs no restart otherwise. needs_restart: it can't be used before, as its
    platform says. may_print_again: a print is offered unasked,
    which isn't done where the printer may have to be restarted first. is_locked_by_owner: a member
    who may control it can't now. print_id: of the current print, else of the one before; "" if
    there is none. smart_pause: the text of the popup of a smart pause; "" if none is shown.
    """

    card: Card
    platform: str
    has_interface: bool
    webcam: Webcam
    cameras: list[CameraPicture]
    camera: int
    is_side_by_side: bool
    layers: str
    duration_s: int | None
    heaters: Sequence[Temp]
    may_heat: bool
    may_move: bool
    may_home: bool
    may_home_axis: bool
    may_extrude: bool
    adjustments: Sequence[AdjustmentRow]
    speed_levels: Sequence[tuple[SpeedLevel, bool]]
    may_offset_z: bool
    z_offset_mm: float | None
    may_stop_in_emergency: bool
    may_restart: bool
    needs_restart: bool
    presets: OfferedPresets
    may_start: bool
    may_print_again: bool
    lights: list[Light]
    units: list[UnitRow]
    tools: list[ToolRow]
    has_materials: bool
    seen_at: datetime | None
    last_known: str
    lan_page: str | None
    chart: TemperatureChart | None
    print_id: str
    smart_pause: str
    is_owner: bool
    may_control: bool
    is_locked_by_owner: bool

    @property
    def is_here(self) -> bool:
        return self.card.shown.is_here

    @property
    def camera_chosen(self) -> str:
        """Return what an address says to show the same cameras."""
        return SIDE_BY_SIDE if self.is_side_by_side else str(self.camera)


def view_of(
    seen: SeenPrinter,
    at: datetime,
    camera: str = "",
    temperatures: Sequence[TemperatureReading] = (),
    presets: OfferedPresets = NO_PRESETS,
) -> PrinterView:
    """Return the view.

    camera: the index of one, or SIDE_BY_SIDE; anything else is the default one. temperatures: the
    data of its chart. presets: of its controls.
    """
    status, card = seen.reading.status, card_of(seen, at)
    is_owner = seen.role is Role.OWNER
    job = status.job_status if status is not None else None
    times = print_times(status, seen.reading.seen_at)
    here = card.shown.is_here
    may_control = seen.role.includes(Role.CONTROL)
    is_usable = here and may_control and not seen.is_locked_by_owner
    features = Feature(status.features) if status is not None and is_usable else NO_FEATURES
    state = job.state if job is not None else State.IDLE
    system = _materials(job) if here else None
    webcams = status.list_webcams.webcams if status is not None else []
    cameras = [
        CameraPicture(
            label=camera_label(entry), still=webcam_of(seen, at_index, card.shown, still=True)
        )
        for at_index, entry in enumerate(webcams)
    ]
    indices = [str(number) for number in range(len(webcams))]
    index = indices.index(camera) if camera in indices else 0
    facts = facts_of(seen.printer.platform)
    may_restart = may_control and _may_restart(seen.reading, features, state)
    may_start = Feature.PRINT_START in features and state not in UNDER_WAY
    return PrinterView(
        card=card,
        platform=translate(facts.title) or _("its own interface"),
        has_interface=facts.has_web_server,
        webcam=webcam_of(seen, index, card.shown, still=False),
        cameras=cameras,
        camera=index,
        is_side_by_side=camera == SIDE_BY_SIDE and len(webcams) > 1 and here,
        layers=layers_of(job) if here else "",
        duration_s=times.duration_s if times is not None and here else None,
        heaters=card.temps,
        may_heat=Feature.TEMPERATURE_CONTROL in features,
        may_move=Feature.AXIS_MOVEMENT in features and state not in AT_WORK,
        may_home=Feature.HOMING in features and state not in UNDER_WAY,
        may_home_axis=Feature.AXIS_HOMING in features and state not in UNDER_WAY,
        may_extrude=Feature.EXTRUSION in features and state not in AT_WORK,
        adjustments=_adjustments(job, features),
        speed_levels=_speed_levels(job, features),
        may_offset_z=Feature.Z_OFFSET_CONTROL in features,
        z_offset_mm=_z_offset_mm(job),
        may_stop_in_emergency=Feature.EMERGENCY_STOP in features and state is not State.ERROR,
        may_restart=may_restart,
        needs_restart=may_restart and seen.reading.refusal is not None,
        presets=presets,
        may_start=may_start,
        may_print_again=may_start and not may_restart,
        lights=(job.lights or []) if job and Feature.LIGHT_CONTROL in features else [],
        units=units_of(system) if system is not None else [],
        tools=tools_of(system) if system is not None else [],
        has_materials=system is not None and tells_anything(system),
        seen_at=seen.reading.seen_at,
        last_known=_last_known(job) if not here else "",
        lan_page=lan_page_at(seen.printer.lan_ip, seen.printer.lan_port) if is_owner else None,
        chart=temperature_chart(temperatures, at),
        print_id=status.service_status.most_recent_print_id_str if status is not None else "",
        smart_pause=_smart_pause(status) if status is not None and here else "",
        is_owner=is_owner,
        may_control=may_control,
        is_locked_by_owner=may_control and seen.is_locked_by_owner,
    )


def _adjustments(job: JobStatus | None, features: Feature) -> list[AdjustmentRow]:
    now = job.adjustments if job is not None else UNSET
    told = NO_ADJUSTMENTS if isinstance(now, UnsetType) else now
    percents = {name: getattr(told, one.argument) for name, one in ADJUSTED.items()}
    return [
        AdjustmentRow(
            name=name,
            label=one.label,
            least=one.least,
            most=one.most,
            percent=percents[name] if isinstance(percents[name], int) else None,
        )
        for name, one in ADJUSTED.items()
        if one.feature in features
    ]


def _speed_levels(job: JobStatus | None, features: Feature) -> list[tuple[SpeedLevel, bool]]:
    """Return the levels that can be chosen, and which of them is in force."""
    if Feature.SPEED_LEVELS not in features:
        return []
    now = job.adjustments if job is not None else UNSET
    told = UNSET if isinstance(now, UnsetType) else now.speed_level
    return [(level, level == told) for level in SpeedLevel]


def _z_offset_mm(job: JobStatus | None) -> float | None:
    now = job.adjustments if job is not None else UNSET
    offset = UNSET if isinstance(now, UnsetType) else now.z_offset_mm
    return None if isinstance(offset, UnsetType) else offset


def _may_restart(reading: Reading, features: Feature, state: State) -> bool:
    """Whether the firmware may have stopped, and can be restarted."""
    if reading.refusal is not None:
        return Feature.FIRMWARE_RESTART in Feature(reading.refusal.features)
    return Feature.FIRMWARE_RESTART in features and state is State.ERROR


def _smart_pause(status: StatusResult) -> str:
    if status.service_status.show_smart_pause_popup is not True:
        return ""
    return smart_pause_sentence(status.job_status.current_print.temps)


def _materials(job: JobStatus | None) -> MaterialSystem | None:
    system = job.material_system if job is not None else None
    return None if system is None or isinstance(system, UnsetType) else system


def _last_known(job: JobStatus | None) -> str:
    """Return what the printer last said of its print and its heaters; "" if nothing is known."""
    if job is None:
        return ""
    print_ = job.current_print
    heaters = [f"{one['name']} {degrees(one['actual'])}" for one in temps_of(print_.temps)]
    progress = [percent(print_.progress)] if job.state in UNDER_WAY else []
    return ", ".join([*progress, *heaters])


def layers_of(job: JobStatus | None) -> str:
    if job is None or job.state not in UNDER_WAY:
        return ""
    layer, total = job.current_print.current_layer, job.current_print.total_layers
    if layer is None or not (layer or total):
        return ""
    return (
        _("Layer %(layer)s", layer=layer)
        if total is None
        else _("Layer %(layer)s of %(total)s", layer=layer, total=total)
    )


def control_template(
    view: PrinterView, *, typed: Mapping[str, str] = _NOTHING, errors: Mapping[str, str] = _NOTHING
) -> Template:
    """Draw the controls. typed, errors: what was typed and what is wrong, by the field's name."""
    context = {"view": view, "here": "control", "typed": typed, "errors": errors}
    status = _FAULT_STATUS if errors else 200
    return Template("dashboard/control.html", context=context, status_code=status)
