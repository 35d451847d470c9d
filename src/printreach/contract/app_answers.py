"""Answers of the App APIs, beside the connection to the printer.

Wire names are the Pascal case of these; every field is always present unless stated otherwise.
"""

from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from printreach.contract.permissions import Permission

MIN_LIVE_HOURS = 1
MAX_LIVE_HOURS = 17_520
"""Two years."""
DEFAULT_LIVE_HOURS = 24
MAX_FILTER_LENGTH = 256
EventNumber = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""Numbers of later versions are kept; 64 bits are what JSON libraries agree on."""


class PrinterLimits(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The limits of one request of the connection."""

    max_download_file_size_bytes: int
    max_upload_file_size_bytes: int
    max_single_webcam_stream_length_seconds: int


class AppInfo(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The printer of a connection.

    printer_local_ip: None where the agent told none. Both times: to the second, in UTC; that of the
    linking where it isn't known. permissions: what the owner allows the connection; left out where
    that is everything. is_remote_control_locked: there, and true, while no one may control the
    printer from afar until its owner unlocks it.
    """

    printer_name: str
    printer_local_ip: str | None
    is_online: bool
    last_disconnect_time_utc: datetime
    last_connection_time_utc: datetime
    user_facing_printer_url: str
    printer_limits: PrinterLimits
    permissions: list[Permission] | UnsetType = UNSET
    is_remote_control_locked: bool | UnsetType = UNSET


class WatchState(IntEnum):
    """The failure detector's state for the printer of a connection."""

    DISABLED = 0
    DISABLED_FOR_THIS_PRINT = 1
    IDLE = 2
    ACTIVE = 3
    PAUSED = 4
    """It paused the print for a failure."""


class WatchColour(StrEnum):
    """green, yellow, red, white."""

    GREEN = "g"
    YELLOW = "y"
    RED = "r"
    WHITE = "w"


class WatchStatus(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The failure detector in one line. status: for people. rating: 10 is the best."""

    state: WatchState
    status: str
    status_color: WatchColour
    rating: Annotated[int, Meta(ge=1, le=10)]


class TokenBody(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A body that may carry the token of the connection; the header AppToken wins over it."""

    app_token: str | None = None


class LiveRequest(TokenBody, frozen=True, kw_only=True, rename="pascal"):
    """A Live Link that is asked for. expiration_hours: left out, a day."""

    expiration_hours: Annotated[int, Meta(ge=MIN_LIVE_HOURS, le=MAX_LIVE_HOURS)] = (
        DEFAULT_LIVE_HOURS
    )
    end_when_current_print_is_complete: bool = False


class LiveCreated(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A Live Link that was made. Both addresses open it, for anyone who has them."""

    live_id: str
    url: str
    short_url: str


class SetWebhook(TokenBody, frozen=True, kw_only=True, rename="pascal"):
    """A webhook that is set. inclusive_event_types_filter: empty, null or left out wants all."""

    webhook_url: Annotated[str, Meta(min_length=1)]
    inclusive_event_types_filter: (
        Annotated[list[EventNumber], Meta(max_length=MAX_FILTER_LENGTH)] | None
    ) = None


class WebhookTried(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The outcome of a call. http_status: null where there was no answer; error then says why."""

    http_status: int | None
    duration_ms: int
    error: str | UnsetType = UNSET


class WebhookKey(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A key by which messages are verified.

    public_key: 32 bytes of Ed25519, in base64. not_after: from then on nothing is signed with it;
    null of the newest.
    """

    key_id: str
    public_key: str
    not_after: datetime | None


class WebhookKeyList(Struct, frozen=True, kw_only=True, rename="pascal"):
    """All valid keys, the newest first."""

    keys: list[WebhookKey]
