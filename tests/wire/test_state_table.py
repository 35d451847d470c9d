"""The state table of docs/protocol.md, cell by cell: what an arriving frame does to a stream."""

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode, Reason, RemoteProtocolError
from printreach.wire.events import CreditReceived
from printreach.wire.frames import Kind, frame
from printreach.wire.session import Session

from .page import table
from .pair import EARLY_HINTS, GET_PAGE, OK, SessionPair

STATES = ["head awaited", "body", "ended", "forgotten", "never opened"]
PAYLOADS = {
    "OPEN": frames.encode_open(0, GET_PAGE, b""),
    "INTERIM": EARLY_HINTS,
    "HEAD": frames.encode_head(OK, b""),
    "DATA": b"body",
    "CREDIT": frames.U32.pack(1),
    "RESET": frames.encode_text(Reason.CANCELLED, ""),
}
BREACHES = {
    CloseCode.STREAM_REUSED: "reused",
    CloseCode.UNEXPECTED_FRAME: "unexpected",
    CloseCode.UNKNOWN_STREAM: "unknown",
}


def answer_in(state: str) -> tuple[Session, int]:
    """A hub, and a stream whose answer is in that state."""
    pair = SessionPair()
    stream = pair.opened()
    if state in ("body", "ended"):
        pair.agent.respond(stream, OK, fin=state == "ended")
    if state == "forgotten":
        pair.hub.reset(stream, Reason.CANCELLED)
    pair.settle()
    return pair.hub, stream + 1 if state == "never opened" else stream


def request_in(state: str) -> tuple[Session, int]:
    """An agent, and a stream whose request is in that state."""
    pair = SessionPair()
    stream = pair.opened(fin=state == "ended")
    if state == "forgotten":
        pair.hub.reset(stream, Reason.CANCELLED)
    pair.settle()
    return pair.agent, stream + 1 if state == "never opened" else stream


def effect(session: Session, stream: int, kind: str) -> str:
    """In the words of the page."""
    try:
        arrived = session.receive(frame(Kind[kind], stream, PAYLOADS[kind]), 1000.0)
    except RemoteProtocolError as breach:
        return BREACHES[breach.code]
    if not arrived:
        return "dropped"
    if kind == "OPEN":
        return "opens the stream"
    return "counted" if arrived == [CreditReceived(stream)] else "reported"


def cells(kinds: list[str], states: list[str]) -> list[tuple[str, str, str]]:
    """Kind, state, and what the page says happens."""
    return [
        (row[0], state, row[1 + STATES.index(state)])
        for row in table("What an arriving frame does, by the state of its direction:", *range(6))
        if row[0] in kinds
        for state in states
    ]


def test_the_table_has_a_row_for_every_kind_of_a_stream() -> None:
    assert [kind for kind, _, _ in cells(list(PAYLOADS), ["body"])] == list(PAYLOADS)


@pytest.mark.parametrize(
    ("kind", "state", "said"),
    cells(["INTERIM", "HEAD", "DATA", "CREDIT", "RESET"], STATES),
)
def test_the_answers_side_of_the_table_holds(kind: str, state: str, said: str) -> None:
    hub, stream = answer_in(state)

    assert effect(hub, stream, kind) == said


@pytest.mark.parametrize(
    ("kind", "state", "said"), cells(["OPEN", "DATA", "CREDIT", "RESET"], STATES[1:])
)
def test_the_requests_side_of_the_table_holds(kind: str, state: str, said: str) -> None:
    agent, stream = request_in(state)

    assert effect(agent, stream, kind) == said
