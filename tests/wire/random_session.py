"""A session of two ends that do anything legal in any order, and a model that checks it."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from printreach.wire import events
from printreach.wire.errors import Reason
from printreach.wire.events import Event
from printreach.wire.frames import CHUNK_BYTES, HEADER, HEADER_BYTES
from printreach.wire.session import Session

from .pair import EARLY_HINTS, GET_PAGE, OK, SessionPair

WINDOW = CHUNK_BYTES + 1000
PATTERN = bytes(range(251)) * 600
"""Every body is a prefix of this; 251 divides no size that matters, so a shift would show."""

sizes = st.sampled_from([0, 1, 1000, WINDOW // 2, CHUNK_BYTES]) | st.integers(0, CHUNK_BYTES)
sometimes = st.integers(0, 4).map(lambda number: number == 4)
picks = st.integers(0, 2)
"""The stream among those that fit; taken modulo their number."""


@dataclass
class Direction:
    """The body of one direction of one stream, as both applications know it."""

    sent: int = 0
    arrived: int = 0
    taken: int = 0
    fin_sent: bool = False
    fin_arrived: bool = False

    def next_bytes(self, size: int) -> bytes:
        at = self.sent % 251
        self.sent += size
        return PATTERN[at : at + size]

    def arrive(self, data: bytes, fin: bool) -> None:
        at = self.arrived % 251
        assert data == PATTERN[at : at + len(data)]
        assert not self.fin_arrived
        self.arrived += len(data)
        self.fin_arrived = fin


@dataclass
class Talk:
    """One stream as the two applications know it."""

    request: Direction = field(default_factory=Direction)
    answer: Direction = field(default_factory=Direction)
    interims_sent: int = 0
    interims_arrived: int = 0
    head_sent: bool = False
    head_arrived: bool = False
    over_at_hub: bool = False
    over_at_agent: bool = False

    def assert_complete(self) -> None:
        assert self.head_arrived
        assert self.interims_arrived == self.interims_sent
        for direction in (self.request, self.answer):
            assert direction.arrived == direction.sent
            assert direction.fin_arrived


def picked(streams: list[int], pick: int) -> list[int]:
    """One of the streams, or none where there is none."""
    return [streams[pick % len(streams)]] if streams else []


def frames_of(message: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(message):
        end = at + HEADER_BYTES + HEADER.unpack_from(message, at)[0]
        yield message[at:end]
        at = end


class RandomSession(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.pair = SessionPair(window=WINDOW)
        self.hub, self.agent = self.pair.hub, self.pair.agent
        self.talks: dict[int, Talk] = {}
        self.to_hub: deque[bytes] = deque()
        self.to_agent: deque[bytes] = deque()

    def talks_open_at(self, session: Session) -> list[int]:
        return [stream for stream in self.talks if session.is_open(stream)]

    # --- what the applications do ---------------------------------------------------------------

    @precondition(lambda self: self.hub.may_open)
    @rule(size=sizes, fin=sometimes)
    def open(self, size: int, fin: bool) -> None:
        talk = Talk()
        talk.request.fin_sent = fin
        self.talks[self.hub.open(GET_PAGE, talk.request.next_bytes(size), fin=fin)] = talk

    @rule(pick=picks, interim=sometimes, size=sizes, fin=sometimes)
    def answer(self, pick: int, interim: bool, size: int, fin: bool) -> None:
        unanswered = [s for s in self.talks_open_at(self.agent) if not self.talks[s].head_sent]
        for stream in picked(unanswered, pick):
            if interim:
                self.agent.interim(stream, EARLY_HINTS)
                self.talks[stream].interims_sent += 1
            else:
                self._respond(stream, size, fin)

    @rule(by_hub=st.booleans(), pick=picks, size=sizes, fin=sometimes)
    def send(self, by_hub: bool, pick: int, size: int, fin: bool) -> None:
        if by_hub:
            for stream in picked(self.talks_open_at(self.hub), pick):
                self._send(self.hub, stream, self.talks[stream].request, size, fin)
        else:
            answered = [s for s in self.talks_open_at(self.agent) if self.talks[s].head_sent]
            for stream in picked(answered, pick):
                self._send(self.agent, stream, self.talks[stream].answer, size, fin)

    @rule(by_hub=st.booleans(), pick=picks, size=sizes)
    def take(self, by_hub: bool, pick: int, size: int) -> None:
        session = self.hub if by_hub else self.agent
        for stream in picked(self.talks_open_at(session), pick):
            talk = self.talks[stream]
            self._take(session, stream, talk.answer if by_hub else talk.request, size)

    @rule(by_hub=st.booleans(), pick=picks, really=sometimes)
    def reset(self, by_hub: bool, pick: int, really: bool) -> None:
        if by_hub:
            for stream in picked(self.talks_open_at(self.hub), pick) if really else []:
                self.hub.reset(stream, Reason.CANCELLED)
                self.talks[stream].over_at_hub = True
        else:
            for stream in picked(self.talks_open_at(self.agent), pick) if really else []:
                self.agent.reset(stream, Reason.BROKEN)
                self.talks[stream].over_at_agent = True

    @rule(by_hub=st.booleans(), seconds=st.sampled_from([0.1, 1.5, 7.0]))
    def talk_beside_the_streams(self, by_hub: bool, seconds: float) -> None:
        (self.hub if by_hub else self.agent).message(b"{}")
        self.pair.clock.advance(seconds)
        self.hub.on_time(self.pair.clock.now)
        self.agent.on_time(self.pair.clock.now)

    # --- what the link does ---------------------------------------------------------------------

    @rule(to_hub=st.booleans(), count=st.integers(1, 9), viewed=st.booleans())
    def deliver(self, to_hub: bool, count: int, viewed: bool) -> None:
        """Bring some frames that wait, as one link message; a receiver may get a view of it."""
        sender, receiver = (self.agent, self.hub) if to_hub else (self.hub, self.agent)
        queue, heard = (
            (self.to_hub, self._heard_by_hub) if to_hub else (self.to_agent, self._heard_by_agent)
        )
        queue.extend(frames_of(sender.take_output()))
        message = b"".join(queue.popleft() for _ in range(min(count, len(queue))))
        for event in receiver.receive(
            memoryview(message) if viewed else message, self.pair.clock.now
        ):
            heard(event)

    # --- what always holds ----------------------------------------------------------------------

    @invariant()
    def credit_bounds_what_is_under_way(self) -> None:
        for stream, talk in self.talks.items():
            for session, direction in (self.hub, talk.request), (self.agent, talk.answer):
                assert direction.taken <= direction.arrived <= direction.sent
                assert session.credit(stream) <= WINDOW - direction.sent + direction.taken

    def teardown(self) -> None:
        """End every stream in order: all that was sent has arrived, and no stream is left."""
        self._take_all()
        for stream, talk in self.talks.items():
            if self.hub.is_open(stream):
                assert self.hub.credit(stream) > WINDOW // 2 or talk.request.fin_sent
                self._send(self.hub, stream, talk.request, CHUNK_BYTES, fin=True)
            if self.agent.is_open(stream):
                assert self.agent.credit(stream) > WINDOW // 2 or talk.answer.fin_sent
                if not talk.head_sent:
                    self._respond(stream, 0, fin=False)
                self._send(self.agent, stream, talk.answer, CHUNK_BYTES, fin=True)
        self._deliver_all()
        assert self.hub.stream_count == self.agent.stream_count == 0
        for talk in self.talks.values():
            if not (talk.over_at_hub or talk.over_at_agent):
                talk.assert_complete()

    # --- helpers --------------------------------------------------------------------------------

    def _respond(self, stream: int, size: int, fin: bool) -> None:
        talk = self.talks[stream]
        talk.head_sent, talk.answer.fin_sent = True, fin
        self.agent.respond(stream, OK, talk.answer.next_bytes(size), fin=fin)

    def _send(
        self, session: Session, stream: int, direction: Direction, size: int, fin: bool
    ) -> None:
        if not direction.fin_sent:
            size = min(size, session.credit(stream))
            direction.fin_sent = fin
            session.send(stream, direction.next_bytes(size), fin=fin)

    def _take(self, session: Session, stream: int, direction: Direction, size: int) -> None:
        size = min(size, direction.arrived - direction.taken)
        direction.taken += size
        session.taken(stream, size)

    def _take_all(self) -> None:
        self._deliver_all()
        for stream, talk in self.talks.items():
            self._take(self.hub, stream, talk.answer, talk.answer.arrived)
            self._take(self.agent, stream, talk.request, talk.request.arrived)
        self._deliver_all()

    def _deliver_all(self) -> None:
        while self.to_hub or self.to_agent or self.hub.has_output or self.agent.has_output:
            self.deliver(to_hub=False, count=9, viewed=False)
            self.deliver(to_hub=True, count=9, viewed=False)

    def _heard_by_agent(self, event: Event) -> None:
        match event:
            case events.StreamOpened(stream, head, body, fin):
                assert head == GET_PAGE
                self.talks[stream].request.arrive(body, fin)
            case events.DataReceived(stream, data, fin):
                assert not self.talks[stream].over_at_agent
                self.talks[stream].request.arrive(data, fin)
            case events.StreamReset(stream):
                assert not self.talks[stream].over_at_agent
                self.talks[stream].over_at_agent = True

    def _heard_by_hub(self, event: Event) -> None:
        match event:
            case events.InterimReceived(stream):
                assert not self.talks[stream].head_arrived
                self.talks[stream].interims_arrived += 1
            case events.HeadReceived(stream, head, body, fin):
                assert head == OK
                assert not self.talks[stream].over_at_hub
                self.talks[stream].head_arrived = True
                self.talks[stream].answer.arrive(body, fin)
            case events.DataReceived(stream, data, fin):
                assert not self.talks[stream].over_at_hub
                self.talks[stream].answer.arrive(data, fin)
            case events.StreamReset(stream):
                assert not self.talks[stream].over_at_hub
                self.talks[stream].over_at_hub = True
