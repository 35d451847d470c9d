"""Grants, cached for the hot path, and rechecks of the streams that were admitted by them.

A cached grant is used for 30 s at most. A notice drops it at once; the 30 s hold even if a notice
is lost. Streams that outlive a cached grant are rechecked at the same interval, so a revoked
connection is closed while it plays a webcam. When a connection was last used is written to the
store at an interval, never by a request.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Final, Protocol

from printreach.contract.errors import ErrorCode
from printreach.limiters.shared_counts import SharedCounts
from printreach.limiters.slots import Slots
from printreach.ports import Bus, Clock, Notice, StoreUnavailable, Topic
from printreach.ports.relaying import Grants
from printreach.rules.connections import INTERNAL_KINDS, Grant, Refused, find_refusal
from printreach.rules.connections.internal_grants import is_of_internal_kind
from printreach.rules.connections.permissions import Requirement
from printreach.rules.histogram import Histogram

from .route import CONNECTION_STREAMS

log = logging.getLogger(__name__)

WRITE_INTERVAL_S: Final = 60.0
STORE_TIMEOUT_S: Final = 10.0
"""The time-out of a write: a store that hangs must not delay the end of the service."""
BATCH: Final = 500
"""Rows in one write; other work gets its turn between two writes."""


class LastUsedRecorder:
    """Records when connections were used. running: returns the names of those in use now."""

    def __init__(self, grants: Grants, clock: Clock, running: Callable[[], Iterable[str]]) -> None:
        self._grants = grants
        self._clock = clock
        self._running = running
        self._used: set[str] = set()  # since the last write
        self._unwritten: dict[str, datetime] = {}
        self._writing = asyncio.create_task(self._keep_writing())

    def note(self, unique_id: str) -> None:
        """Note a use. This is on the path of every request, so the time is that of the write."""
        self._used.add(unique_id)

    async def write(self) -> None:
        """Write the noted uses. Those that the store didn't take are written the next time."""
        at = self._clock.now()
        used = self._unwritten | dict.fromkeys(self._used.union(self._running()), at)
        self._used = set()
        self._unwritten = {
            name: when for name, when in used.items() if not is_of_internal_kind(name)
        }
        rows = iter(tuple(self._unwritten.items()))
        while batch := dict(islice(rows, BATCH)):
            try:
                async with asyncio.timeout(STORE_TIMEOUT_S):
                    await self._grants.connections_used(batch)
            except Exception:
                log.exception("could not record which connections were used")
                return
            for name in batch:
                del self._unwritten[name]

    async def close(self) -> None:
        self._writing.cancel()
        await asyncio.gather(self._writing, return_exceptions=True)
        await self.write()

    async def _keep_writing(self) -> None:
        while True:
            await asyncio.sleep(WRITE_INTERVAL_S)
            await self.write()


GRANT_TTL_S = 20.0
"""With RECHECK_INTERVAL_S below, no grant is used for longer than the 30 s that are promised."""
RECHECK_INTERVAL_S = 5.0
GRANT_SPARE_S = 10.0
"""How much longer a grant is used while the store can't be read. With its TTL that is 30 s, too."""
UNKNOWN_TTL_S = 1.0
"""The TTL of names that aren't connections: long enough against a flood of requests, short enough
for a connection that has just been made."""
MAX_KNOWN = 20_000
MAX_UNKNOWN = 5_000
"""Counted apart, so that a flood of unknown names evicts no connection."""
_ANY_TIME: Final = datetime.min.replace(tzinfo=UTC)
"""What a connection without an end is looked at for: its refusals don't depend on the time."""
GRANT_TOPICS: Final = (Topic.CONNECTION, Topic.PRINTER, Topic.ACCOUNT)
"""Topics that may change an admission. Others have the same keys, and come by the hundred."""


class LiveStream(Protocol):
    """The interface of a running exchange to Admission."""

    grant: Grant
    """The connection's grant when the exchange began."""
    presented: Sequence[bytes]
    need: Requirement

    def end(self, refused: Refused) -> None:
        """Close the exchange, because access has ended."""


class Admission:
    """counts: of streams and viewers of each connection, with those of other nodes."""

    def __init__(self, grants: Grants, bus: Bus, clock: Clock, counts: SharedCounts) -> None:
        self._grants = grants
        self._clock = clock
        self._counts = counts
        self.answer_times = Histogram()  # from a request until its printer's answer begins
        self._loop = asyncio.get_running_loop()
        self.now: Callable[[], float] = self._loop.time
        self._known: OrderedDict[str, tuple[float, Grant]] = OrderedDict()
        self._unknown: OrderedDict[str, float] = OrderedDict()
        self._notices = 0
        self._ports: dict[int, tuple[float, str]] = {}
        self._live: dict[str, set[LiveStream]] = {}
        self._webcams = Slots(name="webcams", counts=counts)
        self._last_used = LastUsedRecorder(grants, clock, lambda: self._live)
        self._unsubscribe = bus.subscribe(self._on_notice, *GRANT_TOPICS)
        self._recheck = asyncio.Event()
        self._rechecking = self._loop.create_task(self._keep_rechecking())

    async def close(self) -> None:
        self._unsubscribe()
        self._rechecking.cancel()
        await asyncio.gather(self._rechecking, return_exceptions=True)
        await self._last_used.close()

    # --- grants ---------------------------------------------------------------------------------

    def cached(self, unique_id: str) -> tuple[Grant | None] | None:
        """Return the cached grant, in a tuple; None if it has to be loaded."""
        now = self.now()
        known = self._known.get(unique_id)
        if known is not None:
            return (known[1],) if known[0] > now else None
        return (None,) if self._unknown.get(unique_id, 0.0) > now else None

    async def load(self, unique_id: str) -> Grant | None:
        """Read the grant from the store, cache it, and recheck running streams by it."""
        notices = self._notices
        try:
            grant = await self._grants.grant(unique_id)
        except StoreUnavailable:
            known = self._known.get(unique_id)
            if known is None or known[0] + GRANT_SPARE_S <= self._loop.time():
                raise
            return known[1]
        if notices != self._notices:  # the answer may be older than the change behind the notice
            notices = self._notices
            grant = await self._grants.grant(unique_id)
        if notices == self._notices:
            self._remember(unique_id, grant)
        self._judge(unique_id, grant)
        return grant

    def _remember(self, unique_id: str, grant: Grant | None) -> None:
        self.forget(unique_id)
        if grant is not None:
            self._known[unique_id] = (self._loop.time() + GRANT_TTL_S, grant)
            if len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
        else:
            self._unknown[unique_id] = self._loop.time() + UNKNOWN_TTL_S
            if len(self._unknown) > MAX_UNKNOWN:
                self._unknown.popitem(last=False)

    def cached_at_port(self, port: int) -> str | None:
        """Return the cached connection of a tunnel port; None if it has to be loaded."""
        entry = self._ports.get(port)
        return entry[1] if entry is not None and entry[0] > self._loop.time() else None

    async def load_at_port(self, port: int) -> str:
        """Return the connection of a tunnel port; "" if there is none."""
        notices = self._notices
        unique_id = await self._grants.unique_id_at_port(port) or ""
        if notices == self._notices:  # else the answer may be older than the change
            ttl_s = GRANT_TTL_S if unique_id else UNKNOWN_TTL_S
            self._ports[port] = (self._loop.time() + ttl_s, unique_id)
        return unique_id

    def forget(self, unique_id: str) -> None:
        self._known.pop(unique_id, None)
        self._unknown.pop(unique_id, None)

    def find_refusal(
        self, grant: Grant | None, presented: Sequence[bytes], need: Requirement
    ) -> Refused | None:
        """Return why a request is refused now; None if it may pass."""
        # Few connections have an end, and to ask the clock takes half a microsecond.
        has_end = grant is not None and grant.expires_at is not None
        return find_refusal(grant, presented, need, self._clock.now() if has_end else _ANY_TIME)

    async def redeem(self, unique_id: str, ticket: str) -> str | None:
        """Use up a ticket; return the secret for the host's cookie, or None."""
        secret = await self._grants.redeem_open_ticket(unique_id, ticket, self._clock.now())
        if secret is not None:
            self.forget(unique_id)
        return secret

    async def add_shared_cookie(self, unique_id: str, current: str | None) -> str | None:
        """Sign a browser in to a Shared Connection; return the secret for the cookie, or None.

        current: the secret of the cookie that the browser has.
        """
        secret = await self._grants.add_shared_cookie(unique_id, self._clock.now(), current)
        self.forget(unique_id)
        return secret

    # --- streams under way ------------------------------------------------------------------------

    def add_stream(self, stream: LiveStream) -> None:
        unique_id = stream.grant.unique_id
        self._last_used.note(unique_id)
        streams = self._live.setdefault(unique_id, set())
        streams.add(stream)
        self._counts.hold(f"streams {unique_id}", len(streams), CONNECTION_STREAMS)

    def remove_stream(self, stream: LiveStream) -> None:
        unique_id = stream.grant.unique_id
        streams = self._live.get(unique_id)
        if streams is not None:
            streams.discard(stream)
            self._counts.hold(f"streams {unique_id}", len(streams), CONNECTION_STREAMS)
            if not streams:
                del self._live[unique_id]

    def stream_count(self, unique_id: str) -> int:
        """Return how many streams of that connection are open, at other nodes too."""
        of_others = self._counts.held_by_others(f"streams {unique_id}")
        return len(self._live.get(unique_id, ())) + of_others

    @property
    def live_count(self) -> int:
        return sum(map(len, self._live.values()))

    @property
    def webcam_count(self) -> int:
        return len(self._webcams)

    def begin_webcam(self, unique_id: str, most: int) -> bool:
        """Count another viewer; False if there are `most` already."""
        return self._webcams.take({unique_id: most})

    def end_webcam(self, unique_id: str) -> None:
        self._webcams.release([unique_id])

    # --- rechecks -------------------------------------------------------------------------------

    def _on_notice(self, notice: Notice) -> None:
        self._notices += 1
        if notice.topic is Topic.CONNECTION:
            self.forget(notice.key)
            self._ports.clear()
        else:
            about = [unique_id for unique_id, entry in self._known.items() if _is(notice, entry[1])]
            for unique_id in about:
                self.forget(unique_id)
        self._recheck.set()

    async def _keep_rechecking(self) -> None:
        while True:
            try:
                async with asyncio.timeout(RECHECK_INTERVAL_S):
                    await self._recheck.wait()
            except TimeoutError:
                pass  # the interval has passed
            self._recheck.clear()
            for unique_id in list(self._live):
                if self.cached(unique_id) is None:
                    await self._recheck_live(unique_id)

    async def _recheck_live(self, unique_id: str) -> None:
        try:
            await self.load(unique_id)
        except Exception:  # without the store, running streams go on and new grants wait
            log.exception("could not check a connection with open streams again")

    def _judge(self, unique_id: str, grant: Grant | None) -> None:
        # An internal token is valid for a minute or two; a download that has begun may go on for as
        # long as the printer belongs to the account that it began for.
        internal = grant if grant and grant.kind in INTERNAL_KINDS else None
        for stream in list(self._live.get(unique_id, ())):
            presented = internal.digests if internal else stream.presented
            refused = self.find_refusal(grant, presented, stream.need)
            if refused is not None:
                stream.end(refused)
            elif grant is None or grant.account_id != stream.grant.account_id:
                stream.end(Refused(ErrorCode.CONNECTION_ENDED))


def _is(notice: Notice, grant: Grant) -> bool:
    """True if the notice is about that grant's printer or account."""
    return notice.key == (grant.printer_id if notice.topic is Topic.PRINTER else grant.account_id)
