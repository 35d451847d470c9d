"""Control messages between agent and service, and the service's handling of a stranger's events.

A message is refused as one that can't be read, or it is what it says: written down and read again
it is the same. An event of a hostile agent becomes a row, a call, a message to people and a line of
the print history; each must come out whole, and say nothing that the event's fields don't.
"""

import json
from datetime import UTC, datetime

import msgspec

from printreach.contract import codec, signin
from printreach.contract.events import MAX_EVENTS_AT_ONCE, PrintEvent
from printreach.rules.notifications.words import words_for
from printreach.rules.prints.history import Print, ReceivedEvent, concerns_print, observe
from printreach.rules.webhooks.messages import About, message_body, signature_headers
from printreach.wire import frames
from printreach.wire.errors import CloseCode

_AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
_ABOUT = About(printer_id="p", printer_name="Workshop", page_url="https://reach.example/printers/p")
_MAX_BODY_BYTES = 64 * 1024
_MAX_WORDS = 4000


def to_service(data: bytes) -> None:
    """Target the messages of an agent."""
    try:
        word = signin.decode_from_agent(data)
    except signin.BadSignInMessage as refused:
        _check_refusal(refused)
        return
    assert signin.decode_from_agent(signin.encode(word)) == word
    if isinstance(word, signin.Events):
        assert 0 < len(word.events) <= MAX_EVENTS_AT_ONCE
        _check_events(word.events)


def to_agent(data: bytes) -> None:
    """Target the messages of a service, which may be an impostor."""
    try:
        word = signin.decode_from_service(data)
    except signin.BadSignInMessage as refused:
        _check_refusal(refused)
        return
    assert signin.decode_from_service(signin.encode(word)) == word


def seeds() -> list[bytes]:
    """Return a message of each kind of this direction."""
    event = PrintEvent(
        event_id="event-0001",
        event_type=6,
        event_time_sec=1_777_000_000,
        print_id="print-1",
        file_name="vase.gcode",
        duration_sec=600,
        progress=30,
        time_remaining_sec=1400,
        z_offset_mm=1.25,
        current_layer=5,
        total_layers=90,
        error="cancelled",
        platform_error_code="E1",
        print_started_at_sec=1_776_999_400,
        filament_used_mm=1000,
        filament_used_mg=3000,
        estimated_total_sec=2000,
    )
    kinds = [msgspec.structs.replace(event, event_type=kind) for kind in range(18)]
    return [
        signin.encode(signin.Events(events=[event])),
        *(signin.encode(signin.Events(events=[one, event])) for one in kinds),
        signin.encode(
            signin.Hello(
                public_key=bytes(32),
                nonce=bytes(32),
                service_host="reach.example",
                agent_version="1",
                platform="octoprint",
                lan_ip="192.168.1.2",
            )
        ),
        signin.encode(signin.Proof(signature=bytes(64))),
        signin.encode(signin.LanAddress(lan_ip="fe80::1")),
        signin.encode(signin.HostApiKey(request_id="1", api_key="k", error="no")),
        signin.encode(
            signin.Challenge(
                service_key=bytes(32), nonce=bytes(32), signature=bytes(64), time_unix_sec=1
            )
        ),
        signin.encode(signin.Welcome(printer_id="p", printer_name="Workshop")),
        signin.encode(
            signin.LinkOffer(link_code="ABCD2345", link_url="https://x/", expires_in_sec=600)
        ),
        signin.encode(signin.Linked(printer_id="p", printer_name="Workshop")),
        signin.encode(signin.MakeHostApiKey(request_id="1", app_name="An app")),
        signin.encode(signin.EventsStored(event_ids=["event-0001"])),
    ]


def _check_refusal(refused: signin.BadSignInMessage) -> None:
    """Check the refusal, which goes to the other end and into a log."""
    payload = frames.encode_text(CloseCode.NOT_WELCOME, str(refused))
    _, text = frames.decode_text(payload)
    assert text


def _check_events(events: list[PrintEvent]) -> None:
    known: Print | None = None
    for event in events:
        stored = codec.encode(event)
        assert msgspec.json.decode(stored, type=PrintEvent) == event
        _check_call(event)
        _check_words(event)
        if concerns_print(event):
            known = _check_history(known, event)


def _check_call(event: PrintEvent) -> None:
    body = message_body(event, _ABOUT)
    told = json.loads(body)
    assert len(body) <= _MAX_BODY_BYTES
    assert None not in told.values()
    assert told["EventId"] == event.event_id
    assert told["PrinterId"] == _ABOUT.printer_id
    for _, value in signature_headers(event.event_id, body, [], _AT):
        assert value.isascii()
        assert not {"\r", "\n", "\0"} & set(value)


def _check_words(event: PrintEvent) -> None:
    words = words_for(event, _ABOUT.printer_name, _ABOUT.page_url)
    assert words.title.startswith(f"{_ABOUT.printer_name}: ")
    assert words.title.isprintable()  # it becomes the subject of a mail
    assert words.text.endswith(_ABOUT.page_url)
    assert len(words.text) <= _MAX_WORDS


def _check_history(known: Print | None, event: PrintEvent) -> Print:
    received = ReceivedEvent(
        account_id="a",
        printer_id="p",
        printer_name="Workshop",
        event=event,
        received_at=_AT,
        snapshot_id=None,
    )
    same = known if known is not None and known.print_id == event.print_id else None
    told = observe(same, received)
    assert observe(told, received) == told  # a repeat is harmless
    return told
