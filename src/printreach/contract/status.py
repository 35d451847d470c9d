"""A printer's status as every platform reports it.

Wire names are the Pascal case of these. What the interface types "or null" is always there and None
when unknown; plain fields are 0, "" or False then; only what is UNSET by default may be left out.

What is longer than its type says is refused; `sizes.cut_to_limits` makes it fit.
"""

from enum import IntFlag, StrEnum
from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType, field

from printreach.contract.commands import SpeedLevel
from printreach.contract.materials import MaterialSystem
from printreach.contract.sizes import (
    MAX_LIGHTS,
    MAX_SCORES,
    MAX_WEBCAMS,
    Number,
    Text,
    Url,
    Whole,
)


class Feature(IntFlag):
    """Bits of `Features`. They describe one printer, not its platform.

    The interface takes its bits from 1 upwards. Those of our own go from 2**30 downwards, so that
    the two meet last; 2**31 would be a negative number to programs that read 32 bits.
    """

    LIGHT_CONTROL = 1
    AXIS_MOVEMENT = 2
    HOMING = 4
    EXTRUSION = 8
    TEMPERATURE_CONTROL = 16
    PRINT_START = 32

    EMERGENCY_STOP = 1 << 30
    FIRMWARE_RESTART = 1 << 29
    SPEED_CONTROL = 1 << 28
    FLOW_CONTROL = 1 << 27
    FAN_CONTROL = 1 << 26
    Z_OFFSET_CONTROL = 1 << 25
    AXIS_HOMING = 1 << 24
    SPEED_LEVELS = 1 << 23


NO_FEATURES = Feature(0)


class State(StrEnum):
    """The state of a printer, in words common to all platforms."""

    IDLE = "idle"
    WARMING_UP = "warmingup"
    PRINTING = "printing"
    PAUSED = "paused"
    RESUMING = "resuming"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    ERROR = "error"


UNDER_WAY: Final = frozenset({State.WARMING_UP, State.PRINTING, State.PAUSED, State.RESUMING})
"""A print has begun and has not ended. Platforms that never say that they resume (Moonraker,
PrusaLink, SDCP) just never have that state, so the set holds for them, too."""
AT_WORK: Final = UNDER_WAY - {State.PAUSED}
"""The print goes on by itself: the printer heats or moves without being asked to."""


class Light(Struct, frozen=True, kw_only=True, rename="pascal"):
    name: Text
    on: bool


class Temps(Struct, frozen=True, kw_only=True, rename="pascal"):
    """Degrees Celsius."""

    bed_actual: Number = 0.0
    bed_target: Number = 0.0
    hotend_actual: Number = 0.0
    hotend_target: Number = 0.0
    chamber_actual: Number | UnsetType = UNSET
    chamber_target: Number | UnsetType = UNSET


class CurrentPrint(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The print under way, or the latest one.

    progress: 0.0 to 100.0. file_name: "" when there was none.
    """

    progress: Number = 0.0
    duration_sec: Whole = 0
    time_left_sec: Whole | None = None
    file_name: Text = ""
    est_total_fil_used_mm: Whole = 0
    est_total_fil_weight_mg: Whole | UnsetType = UNSET
    current_layer: Whole | None = None
    total_layers: Whole | None = None
    temps: Temps = Temps()


class Adjustments(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The adjustments in force. Those that the platform doesn't tell are left out."""

    speed_percent: Whole | UnsetType = UNSET
    flow_percent: Whole | UnsetType = UNSET
    fan_percent: Whole | UnsetType = UNSET
    z_offset_mm: Number | UnsetType = UNSET
    speed_level: SpeedLevel | UnsetType = UNSET


NO_ADJUSTMENTS: Final = Adjustments()


class JobStatus(Struct, frozen=True, kw_only=True, rename="pascal"):
    """sub_state, error: short texts for people. lights: None where the platform has none.

    adjustments: left out where nothing of them is known.
    """

    state: State
    sub_state: Text | None = None
    error: Text | None = None
    lights: Annotated[list[Light], Meta(max_length=MAX_LIGHTS)] | None = None
    current_print: CurrentPrint = CurrentPrint()
    material_system: MaterialSystem | UnsetType | None = UNSET
    adjustments: Adjustments | UnsetType = UNSET


class DetectorStatus(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The latest status of this print from the service's failure detector.

    cannot_see: why the latest image gave no score: "dark", "blocked" or "frozen"; else left out.
    """

    last_score: Number = 0.0
    score_history: Annotated[list[Number], Meta(max_length=MAX_SCORES)] = field(
        default_factory=list
    )
    time_since_last_score_sec: Number = 0.0
    interval_sec: Number = 0.0
    is_suppressed: bool = False
    time_since_last_warn_sec: Number | None = None
    time_since_last_pause_sec: Number | None = None
    cannot_see: Text | UnsetType = UNSET


class ServiceStatus(Struct, frozen=True, kw_only=True, rename="pascal"):
    """most_recent_print_id_str: "" when there was no print.

    show_smart_pause_popup: true while a smart pause holds whose caller asked for the popup, else
    left out.
    """

    most_recent_print_id_str: Text = ""
    print_start_time_sec: Whole = 0
    detector: DetectorStatus = DetectorStatus()
    show_smart_pause_popup: bool | UnsetType = UNSET


class ReportedWebcam(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A camera as the platform tells it, where the printer's owner chose otherwise."""

    name: Text
    flip_h: bool = False
    flip_v: bool = False
    rotation: Whole = 0


class WebcamEntry(Struct, frozen=True, kw_only=True, rename="pascal"):
    """rotation: clockwise, 0, 90, 180 or 270 degrees, after the flips; none of them is applied.

    name, flip_h, flip_v, rotation: as the printer's owner chose, else as the platform tells.
    enabled: False for one that the platform lists as switched off; it gives no pictures.
    snapshot_url, stream_url: without user info or secrets; None where the platform has none, or has
    one that may hold a secret. reported: left out where the owner chose nothing.
    """

    name: Text
    flip_h: bool = False
    flip_v: bool = False
    rotation: Whole = 0
    enabled: bool = True
    snapshot_url: Url | None = None
    stream_url: Url | None = None
    reported: ReportedWebcam | UnsetType = UNSET


class WebcamList(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The default camera is listed first, so default_index is 0. Disabled ones are listed last."""

    default_index: Whole = 0
    webcams: Annotated[list[WebcamEntry], Meta(max_length=MAX_WEBCAMS)] = field(
        default_factory=list
    )


class StatusResult(Struct, frozen=True, kw_only=True, rename="pascal"):
    """features: the bits of Feature."""

    job_status: JobStatus
    service_status: ServiceStatus
    platform_version: Text
    features: Whole
    list_webcams: WebcamList
