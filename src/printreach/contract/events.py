"""Events of prints, as the agent sends them to the service.

The agent makes an event, gives it its id and keeps it until the service has stored it. The service
adds the printer's name and addresses for the message to an app.

Wire names are the Pascal case of these. UNSET fields are unknown and left out, never null.
"""

from enum import IntEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

MAX_TEXT = 500
"""The most characters of a file's name or an error; the maker of an event cuts to this."""
MAX_PRINT_ID = 64
MAX_EVENTS_AT_ONCE = 50
"""The most events in one message of the tunnel."""

EventId = Annotated[str, Meta(pattern=r"^[0-9a-z-]{8,64}\Z")]
"""Not `$`, which would accept a final line end: the id becomes a header of webhook messages."""
PrintId = Annotated[str, Meta(max_length=MAX_PRINT_ID)]
ShortText = Annotated[str, Meta(max_length=MAX_TEXT)]
Code = Annotated[str, Meta(max_length=64)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Percent = Annotated[int, Meta(ge=0, le=100)]
LATEST_UNIX_TIME = 253_402_300_799
"""The end of the year 9999."""
UnixTime = Annotated[int, Meta(ge=0, le=LATEST_UNIX_TIME)]
"""Seconds."""
Millimetres = Annotated[float, Meta(ge=-10_000.0, le=10_000.0)]


class EventType(IntEnum):
    """Numbers never change; new ones are added. docs/protocol.md, "What happens to prints"."""

    STARTED = 1
    COMPLETE = 2
    FAILED = 3
    """Cancelled or faulted: `error` says which."""
    PAUSED = 4
    RESUMED = 5
    PROGRESS = 6
    """Each 10 %, and each hour."""
    POSSIBLE_FAILURE = 7
    """The failure detector warns."""
    PAUSED_BY_DETECTOR = 8
    ERROR = 9
    FIRST_LAYER_COMPLETE = 10
    FILAMENT_CHANGE_REQUIRED = 11
    USER_INTERACTION_REQUIRED = 12
    NOTIFICATION_LIMIT_REACHED = 13
    THIRD_LAYER_COMPLETE = 14
    BED_COOLED_DOWN = 15
    TEST = 16


class PrintEvent(Struct, frozen=True, kw_only=True, rename="pascal"):
    """One event of a print.

    event_id: made once, before the event is first written down; unique for its printer.
    event_type: one of EventType, or a number that a newer agent knows: it is kept.
    print_id: "" where no print is concerned.
    error: of FAILED "cancelled", or the fault in the printer's words; of others a short sentence.
    platform_error_code: as the platform spells it.
    print_started_at_sec, filament_used_mm, filament_used_mg: for the print history; of the filament
    what is estimated for the whole print where only that is known, times the progress.
    estimated_total_sec: how long the whole print would take, as of then.
    """

    event_id: EventId
    event_type: Count
    event_time_sec: UnixTime
    print_id: PrintId = ""
    file_name: ShortText | UnsetType = UNSET
    duration_sec: Count | UnsetType = UNSET
    progress: Percent | UnsetType = UNSET
    time_remaining_sec: Count | UnsetType = UNSET
    z_offset_mm: Millimetres | UnsetType = field(default=UNSET, name="ZOffsetMM")
    current_layer: Count | UnsetType = UNSET
    total_layers: Count | UnsetType = UNSET
    error: ShortText | UnsetType = UNSET
    platform_error_code: Code | UnsetType = UNSET
    print_started_at_sec: UnixTime | UnsetType = UNSET
    filament_used_mm: Count | UnsetType = UNSET
    filament_used_mg: Count | UnsetType = UNSET
    estimated_total_sec: Count | UnsetType = UNSET
