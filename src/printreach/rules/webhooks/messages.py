"""Webhook messages: the body, and the headers that authenticate it.

Signed as Standard Webhooks has it, version `v1a`: Ed25519 over id, time and body.
"""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.events import PrintEvent
from printreach.contract.unset import UNSET

KEY_OVERLAP: Final = timedelta(days=7)
"""The time for which the previous key also signs after a rotation: receivers may have stored it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """The service's additions to an event. snapshot_url: None if there is no picture."""

    printer_id: str
    printer_name: str
    page_url: str
    snapshot_url: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningKey:
    """A key that messages are signed with. not_after: None while no other has replaced it."""

    key_id: str
    public: bytes
    sign: Callable[[bytes], bytes]
    not_after: datetime | None = None


def message_body(event: PrintEvent, about: About) -> bytes:
    """Return the event as JSON; the order of its fields is part of the interface.

    What is unknown is left out, never null.
    """
    fields: dict[str, object] = {
        "PrinterId": about.printer_id,
        "PrintId": event.print_id,
        "EventType": event.event_type,
        "EventId": event.event_id,
        "EventTimeSec": event.event_time_sec,
        "PrinterName": about.printer_name,
    }
    if about.snapshot_url is not None:
        fields["SnapshotUrl"] = about.snapshot_url
    fields["QuickViewUrl"] = about.page_url
    optional: dict[str, object] = {
        "FileName": event.file_name,
        "DurationSec": event.duration_sec,
        "Progress": event.progress,
        "TimeRemainingSec": event.time_remaining_sec,
        "ZOffsetMM": event.z_offset_mm,
        "CurrentLayer": event.current_layer,
        "TotalLayers": event.total_layers,
        "Error": event.error,
        "PlatformErrorCode": event.platform_error_code,
    }
    fields |= {name: value for name, value in optional.items() if value is not UNSET}
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def without_picture(body: bytes) -> bytes:
    """Return the same message for an app without permission for cameras.

    body: of `message_body`.
    """
    fields = json.loads(body)
    fields.pop("SnapshotUrl", None)
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def signature_headers(
    message_id: str, body: bytes, keys: Sequence[SigningKey], at: datetime
) -> list[tuple[str, str]]:
    """Return the three headers of Standard Webhooks; one signature for each key."""
    timestamp = int(at.timestamp())
    content = signed_content(message_id, timestamp, body)
    signatures = (f"v1a,{base64.b64encode(key.sign(content)).decode()}" for key in keys)
    return [
        ("webhook-id", message_id),
        ("webhook-timestamp", str(timestamp)),
        ("webhook-signature", " ".join(signatures)),
    ]


def signed_content(message_id: str, timestamp: int, body: bytes) -> bytes:
    """Return what a signature covers."""
    return b"%b.%d.%b" % (message_id.encode(), timestamp, body)
