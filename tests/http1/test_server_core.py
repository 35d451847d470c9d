"""Playbooks of the server's core: what comes and what we call, and what there is to serve."""

from collections.abc import Callable
from functools import partial

import pytest

from printreach.http1.chunked import LAST_CHUNK, encode_chunk
from printreach.http1.heads import MAX_HEAD_BYTES, BadMessage
from printreach.http1.server_core import LINGER_BYTES, SERVING, ServerCore, State, StateError

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
NEXT = b"GET /b HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
CHUNKED = b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
HANDSHAKE = b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

Call = Callable[[ServerCore], object]
Event = bytes | int | State
"""A request's target, or a piece of a body or raw bytes; the status of a refusal; a state."""

answered: Call = partial(ServerCore.answered, keep_alive=True)
answered_as_last: Call = partial(ServerCore.answered, keep_alive=False)
end: Call = ServerCore.end_of_input
refuse: Call = ServerCore.refuse
upgrade: Call = ServerCore.upgrade
close: Call = ServerCore.close
CALLS = {
    "answered": answered,
    "answered as last": answered_as_last,
    "refuse": refuse,
    "upgrade": upgrade,
}
TO_REACH: dict[State, list[bytes | Call]] = {
    State.IDLE: [],
    State.HEAD: [b"GET"],
    State.BODY: [POST],
    State.ANSWER: [GET],
    State.RAW: [HANDSHAKE, upgrade],
    State.LINGER: [refuse],
    State.CLOSED: [close],
}
LEGAL: dict[str, dict[State, State]] = {
    "answered": {
        State.BODY: State.LINGER,
        State.ANSWER: State.IDLE,
        State.CLOSED: State.CLOSED,
    },
    "answered as last": {
        State.BODY: State.LINGER,
        State.ANSWER: State.CLOSED,
        State.CLOSED: State.CLOSED,
    },
    "refuse": {
        State.IDLE: State.LINGER,
        State.HEAD: State.LINGER,
        State.BODY: State.LINGER,
        State.CLOSED: State.CLOSED,
    },
    "upgrade": {State.ANSWER: State.RAW, State.CLOSED: State.CLOSED},
}


def play(*steps: bytes | Call) -> list[Event]:
    """Return what is to be served after each step, and the last state."""
    core = ServerCore()
    events: list[Event] = []
    for step in steps:
        if isinstance(step, bytes):
            core.receive(step)
        else:
            step(core)
        events += served(core)
    return [*events, core.state]


def served(core: ServerCore) -> list[Event]:
    events: list[Event] = []
    try:
        if core.state in (State.IDLE, State.HEAD):
            request = core.next_request()
            if request is not None:
                events.append(request.target)
        if core.state is State.BODY:
            events.append(core.next_body())
        elif core.state is State.RAW:
            events.append(core.take_surplus())
    except BadMessage as fault:
        core.refuse()
        events.append(fault.status)
    return [event for event in events if event != b""]


def test_a_request_is_served_once_its_head_is_whole() -> None:
    assert play(GET[:10]) == [State.HEAD]
    assert play(GET[:10], GET[10:]) == [b"/a", State.ANSWER]


def test_after_the_answer_the_next_request_may_come() -> None:
    assert play(GET, answered) == [b"/a", State.IDLE]
    assert play(GET, answered, NEXT) == [b"/a", b"/b", State.ANSWER]


def test_a_request_that_comes_early_waits_for_the_answer_to_the_one_before() -> None:
    assert play(GET + NEXT) == [b"/a", State.ANSWER]
    assert play(GET + NEXT, answered) == [b"/a", b"/b", State.ANSWER]


def test_after_the_last_answer_the_connection_is_closed() -> None:
    assert play(GET + NEXT, answered_as_last) == [b"/a", State.CLOSED]


def test_a_body_is_read_piece_by_piece_and_no_further() -> None:
    assert play(POST + b"he") == [b"/p", b"he", State.BODY]
    assert play(POST, b"he", b"llo" + GET) == [b"/p", b"he", b"llo", State.ANSWER]
    assert play(POST, b"hello" + GET, answered) == [b"/p", b"hello", b"/a", State.ANSWER]


def test_a_chunked_body_ends_with_its_last_chunk() -> None:
    assert play(CHUNKED, b"2\r\nhe\r\n") == [b"/c", b"he", State.BODY]
    assert play(CHUNKED + b"2\r\nhe\r\n0\r\n\r\n") == [b"/c", b"he", State.ANSWER]


def test_a_body_of_no_bytes_is_whole_at_once() -> None:
    assert play(POST.replace(b"5", b"0")) == [b"/p", State.ANSWER]


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_it_makes_no_difference_how_the_bytes_are_cut(size: int) -> None:
    whole = POST + b"hello" + CHUNKED + b"5\r\nworld\r\n0\r\n\r\n" + GET
    core, targets, body = ServerCore(), [], b""
    for at in range(0, len(whole), size):
        core.receive(whole[at : at + size])
        while core.state in SERVING or core.surplus:
            request = None if core.state in SERVING else core.next_request()
            if request is not None:
                targets.append(request.target)
            if core.state is State.BODY:
                body += core.next_body()
            if core.state is not State.ANSWER:
                break
            core.answered(keep_alive=True)

    assert (targets, body) == ([b"/p", b"/c", b"/a"], b"helloworld")
    assert core.state is State.IDLE


def test_one_empty_line_before_a_request_is_skipped() -> None:
    assert play(b"\r\n", GET) == [b"/a", State.ANSWER]
    assert play(b"\r", b"\n" + GET) == [b"/a", State.ANSWER]
    assert play(GET, answered, b"\r\n" + NEXT) == [b"/a", b"/b", State.ANSWER]


def test_a_second_empty_line_is_refused() -> None:
    assert play(b"\r\n\r\n" + GET) == [400, State.LINGER]


@pytest.mark.parametrize(
    ("malformed", "status"),
    [
        (b"GET /\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * MAX_HEAD_BYTES, 431),
    ],
)
def test_bytes_that_are_no_request_are_refused_and_the_rest_is_dropped(
    malformed: bytes, status: int
) -> None:
    assert play(malformed, GET) == [status, State.LINGER]


def test_a_malformed_body_is_refused_and_the_rest_is_dropped() -> None:
    assert play(CHUNKED + b"x\r\n", GET) == [b"/c", 400, State.LINGER]


def test_a_request_that_is_answered_before_its_body_has_come_is_the_last() -> None:
    assert play(POST + b"he", answered) == [b"/p", b"he", State.LINGER]
    assert play(POST + b"he", answered, b"llo" + GET) == [b"/p", b"he", State.LINGER]


def test_no_more_than_the_limit_is_dropped_while_lingering() -> None:
    assert play(refuse, bytes(LINGER_BYTES)) == [State.LINGER]
    assert play(refuse, bytes(LINGER_BYTES), b"x") == [State.CLOSED]


def test_after_an_upgrade_all_bytes_are_raw() -> None:
    assert play(HANDSHAKE + GET, upgrade, b"x") == [b"/ws", GET, b"x", State.RAW]


@pytest.mark.parametrize(
    "steps",
    [[], [b"\r\n"], [GET[:10]], [POST], [POST, b"he"], [refuse], [close]],
    ids=["idle", "empty line", "head", "body", "half a body", "lingering", "closed"],
)
def test_the_end_of_input_closes_a_connection_that_has_nothing_to_answer(
    steps: list[bytes | Call],
) -> None:
    assert play(*steps, end)[-1] is State.CLOSED


def test_a_client_that_ends_its_direction_gets_the_answers_to_whole_requests() -> None:
    assert play(GET, end) == [b"/a", State.ANSWER]
    assert play(GET, end, answered) == [b"/a", State.CLOSED]
    assert play(GET + NEXT, end, answered) == [b"/a", b"/b", State.ANSWER]
    assert play(GET + NEXT, end, answered, answered) == [b"/a", b"/b", State.CLOSED]


@pytest.mark.parametrize("rest", [NEXT[:10], b"\r\n", POST + b"he"])
def test_what_is_not_whole_at_the_end_of_input_is_no_request(rest: bytes) -> None:
    assert play(GET + rest, end, answered)[-1] is State.CLOSED


def test_an_upgraded_connection_ends_in_each_direction_apart() -> None:
    assert play(HANDSHAKE, upgrade, end) == [b"/ws", State.RAW]


def test_a_request_that_waits_at_the_end_of_input_may_be_begun_later() -> None:
    core = ServerCore()
    core.receive(GET)
    core.end_of_input()

    assert core.state is State.IDLE
    assert core.next_request() is not None


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("name", CALLS)
def test_each_call_has_its_place_in_some_states_and_changes_nothing_in_others(
    name: str, state: State
) -> None:
    core = ServerCore()
    for step in TO_REACH[state]:
        if isinstance(step, bytes):
            core.receive(step)
        else:
            step(core)
        served(core)
    assert core.state is state

    following = LEGAL[name].get(state)
    if following is None:
        with pytest.raises(StateError):
            CALLS[name](core)
    else:
        CALLS[name](core)

    assert core.state is (following or state)


@pytest.mark.parametrize("ends_early", [False, True])
def test_a_body_is_read_some_chunks_at_a_time(ends_early: bool) -> None:
    core = ServerCore(max_pieces=2)
    core.receive(CHUNKED + encode_chunk(b"x") * 3 + LAST_CHUNK + GET)
    assert core.next_request() is not None
    if ends_early:
        core.end_of_input()

    assert _read_body(core) == [(b"xx", State.BODY), (b"x", State.ANSWER)]
    assert core.surplus == GET


def test_half_a_body_that_waits_at_the_end_of_input_is_read_before_the_end() -> None:
    core = ServerCore(max_pieces=1)
    core.receive(CHUNKED + encode_chunk(b"x") * 2)
    assert core.next_request() is not None
    core.end_of_input()

    assert _read_body(core) == [(b"x", State.BODY), (b"x", State.BODY), (b"", State.CLOSED)]


def _read_body(core: ServerCore) -> list[tuple[bytes, State]]:
    """Return each part of the body and the state after it, until it has ended."""
    parts = list[tuple[bytes, State]]()
    while core.state is State.BODY:
        parts.append((core.next_body(), core.state))
    return parts
