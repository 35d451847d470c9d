"""Properties of sessions between two honest ends, and with a hostile one."""

from contextlib import suppress

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from printreach.wire import frames, heads
from printreach.wire.errors import CloseCode, RemoteProtocolError
from printreach.wire.events import Event, HeadReceived, InterimReceived, StreamOpened
from printreach.wire.frames import FIN, Kind, frame
from printreach.wire.session import Session

from .pair import EARLY_HINTS, GET_PAGE, OK, POST_FILE, SessionPair
from .random_session import RandomSession

# Without the phase that explains a failure: it would trace a whole session again and again.
unexplained = settings(phases=[Phase.reuse, Phase.generate, Phase.shrink])
quick = settings(unexplained, max_examples=15, stateful_step_count=80)
thorough = settings(unexplained, max_examples=60, stateful_step_count=200)
# Minutes to find the shortest session that fails; hypothesis itself stops after five.
a_failure_takes_its_time = pytest.mark.timeout(400)


@a_failure_takes_its_time
def test_honest_ends_understand_each_other() -> None:
    run_state_machine_as_test(RandomSession, settings=quick)


@pytest.mark.slow
@a_failure_takes_its_time
def test_honest_ends_understand_each_other_at_length() -> None:
    run_state_machine_as_test(RandomSession, settings=thorough)


# --- hostile ends ---------------------------------------------------------------------------------


def said_by(end: str) -> list[bytes]:
    """Every kind of frame that an end may send, in a legal order, one stream half open."""
    number = bytes(8)
    common = [
        frame(Kind.HELLO, 0, frames.encode_hello(1, 1, frames.WINDOW_BYTES, ("zstd",))),
        frame(Kind.PING, 0, number),
        frame(Kind.PONG, 0, number),
        frame(Kind.MESSAGE, 0, b'{"Type":"hello"}'),
    ]
    opens = [frame(Kind.OPEN, n, frames.encode_open(n - 1, POST_FILE, b"body")) for n in (1, 2)]
    answers = [
        frame(Kind.INTERIM, 1, EARLY_HINTS),
        frame(Kind.HEAD, 1, frames.encode_head(OK, b"body")),
    ]
    rest = [
        frame(Kind.CREDIT, 1, frames.U32.pack(1000)),
        frame(Kind.DATA, 1, b"more"),
        frame(Kind.DATA | FIN, 1, b"last"),
        frame(Kind.RESET, 2, frames.encode_text(3, "too slow")),
        frame(Kind.DRAIN, 0, b""),
        frame(Kind.CLOSE, 0, frames.encode_text(CloseCode.NORMAL, "bye")),
    ]
    return common + (opens if end == "hub" else answers) + rest


@st.composite
def mutated(draw: st.DrawFn, said: list[bytes]) -> bytes:
    """Return output with frames left out, repeated or moved, and then bytes changed."""
    order = draw(st.lists(st.sampled_from(range(len(said))), max_size=12))
    data = bytearray(b"".join(said[i] for i in (order if draw(st.booleans()) else sorted(order))))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


any_frames = st.lists(
    st.builds(
        frame,
        kind=st.integers(0, 0xFF) | st.sampled_from(list(Kind)),
        stream=st.sampled_from([0, 1, 2, 3, 0xFFFF_FFFF]),
        payload=st.binary(max_size=20),
    ),
    max_size=6,
).map(b"".join)


def listening_to(end: str, *, greeted: bool) -> Session:
    """The other end, with two streams open, one of them with its request whole."""
    pair = SessionPair(greeted=greeted)
    if greeted and end == "agent":
        pair.opened(POST_FILE)
        pair.opened(GET_PAGE, fin=True)
    return pair.hub if end == "agent" else pair.agent


def receive(session: Session, message: bytes) -> list[Event] | RemoteProtocolError:
    session.take_output()
    try:
        return session.receive(message, 1000.0)
    except RemoteProtocolError as fault:
        return fault


def decode_heads(arrived: list[Event]) -> None:
    """Relay and agent handle the heads; only a fault of the other end is let pass."""
    for event in arrived:
        with suppress(RemoteProtocolError):
            match event:
                case StreamOpened(_, head):
                    heads.decode_request(head)
                case HeadReceived(_, head) | InterimReceived(_, head):
                    heads.decode_response(head)


def attack(end: str, data: st.DataObject) -> None:
    session = listening_to(end, greeted=data.draw(st.booleans()))
    messages = st.lists(mutated(said_by(end)) | any_frames | st.binary(max_size=40), min_size=1)
    for message in data.draw(messages):
        match receive(session, message):
            case RemoteProtocolError(code=code, text=text):
                assert session.take_output() == closing(code, text)
                return
            case arrived:
                decode_heads(arrived)


def closing(code: CloseCode, text: str) -> bytes:
    return frame(Kind.CLOSE, 0, frames.encode_text(code, text))


@pytest.mark.parametrize("end", ["hub", "agent"])
@settings(max_examples=60)
@given(data=st.data())
def test_a_hostile_end_provokes_nothing_but_a_fault_of_its_own(
    end: str, data: st.DataObject
) -> None:
    attack(end, data)


@pytest.mark.slow
@a_failure_takes_its_time
@pytest.mark.parametrize("end", ["hub", "agent"])
@settings(max_examples=1000)
@given(data=st.data())
def test_a_hostile_end_provokes_nothing_at_length_either(end: str, data: st.DataObject) -> None:
    attack(end, data)
