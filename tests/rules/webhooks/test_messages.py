"""The body and the signature of a message to an app."""

import json
import re
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from printreach.contract.events import PrintEvent
from printreach.rules.webhooks.messages import About, SigningKey, message_body, signature_headers
from tests.rigs.standard_webhooks import verify

PAGE = Path(__file__).parents[3] / "docs" / "webhooks.md"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ABOUT = About(
    printer_id="p1",
    printer_name='Werk"statt ü',
    page_url="https://reach.example/printers/p1",
    snapshot_url="https://reach.example/snapshots/s1",
)
EVENT = PrintEvent(
    event_id="event-00001",
    event_type=3,
    event_time_sec=1_777_000_000,
    print_id="print-1",
    file_name="cube.gcode",
    duration_sec=60,
    progress=50,
    time_remaining_sec=61,
    z_offset_mm=0.25,
    current_layer=3,
    total_layers=9,
    error="cancelled",
    platform_error_code="0300_4000",
)


def key(name: str = "k1") -> tuple[SigningKey, bytes]:
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw()
    return SigningKey(key_id=name, public=public, sign=private.sign), public


def test_the_fields_come_in_the_order_of_the_interface() -> None:
    assert list(json.loads(message_body(EVENT, ABOUT))) == [
        *("PrinterId", "PrintId", "EventType", "EventId", "EventTimeSec", "PrinterName"),
        *("SnapshotUrl", "QuickViewUrl", "FileName", "DurationSec", "Progress"),
        *("TimeRemainingSec", "ZOffsetMM", "CurrentLayer", "TotalLayers", "Error"),
        "PlatformErrorCode",
    ]


def test_every_value_arrives_as_it_was() -> None:
    body = json.loads(message_body(EVENT, ABOUT))

    assert body["PrinterName"] == 'Werk"statt ü'
    assert body["EventType"] == 3
    assert body["ZOffsetMM"] == 0.25
    assert body["QuickViewUrl"] == "https://reach.example/printers/p1"
    assert body["Progress"] == 50


def test_what_is_unknown_is_left_out() -> None:
    bare = PrintEvent(event_id="event-00002", event_type=16, event_time_sec=1)
    about = About(printer_id="p1", printer_name="Workshop", page_url="https://reach.example/p")

    assert json.loads(message_body(bare, about)) == {
        "PrinterId": "p1",
        "PrintId": "",
        "EventType": 16,
        "EventId": "event-00002",
        "EventTimeSec": 1,
        "PrinterName": "Workshop",
        "QuickViewUrl": "https://reach.example/p",
    }


def test_a_signature_is_one_that_others_can_verify() -> None:
    signing, public = key()
    body = message_body(EVENT, ABOUT)
    headers = dict(signature_headers(EVENT.event_id, body, [signing], NOON))

    assert headers["webhook-id"] == EVENT.event_id
    assert headers["webhook-timestamp"] == str(int(NOON.timestamp()))
    assert verify(headers, body, public, at=NOON.timestamp())
    assert not verify(headers, body + b" ", public, at=NOON.timestamp())
    assert not verify(headers | {"webhook-id": "other"}, body, public, at=NOON.timestamp())
    assert not verify(headers, body, public, at=NOON.timestamp() + 301)


def test_while_keys_overlap_either_verifies() -> None:
    (old, old_public), (new, new_public) = key("k1"), key("k2")
    headers = dict(signature_headers("event-00001", b"{}", [new, old], NOON))

    assert verify(headers, b"{}", old_public, at=NOON.timestamp())
    assert verify(headers, b"{}", new_public, at=NOON.timestamp())


def test_the_receiver_of_the_page_takes_any_signature_that_fits_and_no_other() -> None:
    [program] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    page: dict[str, Any] = {}
    exec(program, page)
    (old, old_public), (new, new_public), (_, strange) = key("k1"), key("k2"), key("k3")
    headers = dict(signature_headers("event-00001", b"{}", [new, old], NOON))

    for public in (old_public, new_public):
        page["verify"](headers, b"{}", b64encode(public).decode())
    with pytest.raises(InvalidSignature):
        page["verify"](headers, b"{}", b64encode(strange).decode())
    with pytest.raises(InvalidSignature):
        page["verify"](headers, b"{ }", b64encode(new_public).decode())
