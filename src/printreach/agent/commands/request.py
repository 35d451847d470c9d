"""A command request and its context: path, query with case-insensitive names, JSON body."""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

from printreach.agent.commands.replay import Replays, ServiceClock
from printreach.agent.owner_limits import NO_OWNER_LIMITS, OwnerLimits
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.temperature_recorder import TemperatureRecorder
from printreach.contract.codec import BadArguments, canonical_arguments, decode_arguments
from printreach.contract.commands import (
    COMMAND_EXPIRES_FIELD,
    COMMAND_PREFIX,
    PERMISSIONS_FIELD,
    CommandStatus,
    Pause,
    StatusQuery,
)
from printreach.contract.status import ServiceStatus
from printreach.languages import N_, in_english
from printreach.printers.port import PrinterRefused
from printreach.rules.connections.permissions import Access, refusal_of, required_of
from printreach.tunnel.served import ServedStream
from printreach.wire.heads import RequestHead, get


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandContext:
    """The dependencies of the command API beside the printer.

    limits: the agent's own, which hold whatever the service lets through. remote_lock: whether
    anybody may control the printer remotely. expect_pause: is called before each pause is ordered;
    its result is called if the printer refuses. resume_ordered: is called once the printer has
    accepted a resume.
    """

    clock: ServiceClock
    replays: Replays
    service_status: Callable[[], ServiceStatus]
    temperatures: TemperatureRecorder
    limits: OwnerLimits = NO_OWNER_LIMITS
    remote_lock: RemoteLock = field(default_factory=RemoteLock)
    expect_pause: Callable[[Pause], Callable[[], None]] = lambda _: lambda: None
    resume_ordered: Callable[[], None] = lambda: None


T = TypeVar("T")

MAX_ARGUMENTS_BYTES = 64 * 1024


class CommandRequest:
    """One request to the command API.

    has_acted: the printer was given an order by it, or is about to be.
    """

    def __init__(
        self, stream: ServedStream, head: RequestHead, command: bytes, context: CommandContext
    ) -> None:
        self._remote_lock = context.remote_lock
        self._clock = context.clock
        self.has_acted = False
        self.stream = stream
        self.method = head.method
        self.command = command
        self.headers = head.headers
        self._query = _read_query(head.target.partition(b"?")[2])
        self._body: bytes | None = None

    @property
    def access(self) -> Access:
        """The operations allowed now: remote control may be locked after the request arrived."""
        return self._remote_lock.access(get(self.headers, PERMISSIONS_FIELD.lower()))

    def begin_to_act(self) -> None:
        """To be called directly before the printer is given an order, with no wait in between.

        Raises PrinterRefused where the request may no longer be carried out.
        """
        self.require_current()
        self.note_order()

    def note_order(self) -> None:
        """Note that the printer is given an order now; the arguments are read no more.

        They are dropped, since the order may be under way for long after its caller has left.
        """
        self.has_acted = True
        self._body = b""

    def require_current(self) -> None:
        """Raises PrinterRefused where it expired, or remote control was locked after it came."""
        self.require_fresh()
        self._require_allowed()

    async def until_locked(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Carry out what may take long: not its time ends it, but a lock, however short.

        The work is cancelled once, by a lock or because the caller has left, and awaited to its
        end, so that nothing cuts short what it undoes then. Its result counts despite a lock where
        it returns one. Raises PrinterRefused (786).
        """
        self._require_allowed()
        task = asyncio.create_task(work())
        self.stream.served_by(task)
        refusals: list[PrinterRefused] = []

        def end_where_refused() -> None:
            try:
                self._require_allowed()
            except PrinterRefused as refused:
                refusals.append(refused)
                _cancel_once(task)

        self._remote_lock.observe(end_where_refused)
        try:
            await _to_its_end(task)
        finally:
            self._remote_lock.unobserve(end_where_refused)
        try:
            return task.result()
        except (asyncio.CancelledError, PrinterRefused):
            if refusals:
                raise refusals[0] from None
            raise

    def require_fresh(self) -> None:
        """Raises PrinterRefused (504) where it expired, by the service's clock."""
        expires = get(self.headers, COMMAND_EXPIRES_FIELD.lower())
        now = self._clock.unix_s()
        if expires is None or not expires.isdigit() or now is None:
            return
        if now > int(expires) / 1000:
            raise PrinterRefused(
                CommandStatus.TIMED_OUT,
                N_("This command arrived too late and was not carried out."),
            )

    def _require_allowed(self) -> None:
        """Raises PrinterRefused (786) where remote control was locked after it came."""
        requirement = required_of(self.method, COMMAND_PREFIX + self.command)
        refusal = refusal_of(requirement, self.access)
        if refusal is not None:
            raise PrinterRefused(CommandStatus.INVALID_STATE, refusal)

    def text(self, name: str) -> str | None:
        """Return a query argument; None when it is missing."""
        return self._query.get(name.lower())

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if value is None:
            return default
        if not value.isascii() or not value.isdigit() or len(value) > 9:
            raise bad_arguments(in_english("%(name)s must be a whole number.", name=name))
        return int(value)

    def flag(self, *names: str) -> bool:
        """Return a boolean (true, 1, false or 0) by the first of these names that is given."""
        for name in names:
            value = self.text(name)
            if value is None:
                continue
            if value.lower() in ("true", "1"):
                return True
            if value.lower() in ("false", "0"):
                return False
            raise bad_arguments(in_english("%(name)s must be true, false, 1 or 0.", name=name))
        return False

    async def arguments(self, shape: type[T]) -> T:
        """Return the JSON body. Raises PrinterRefused (751)."""
        coding = get(self.headers, b"content-encoding") or b"identity"
        if coding.lower() != b"identity":
            raise bad_arguments(N_("Content-Encoding: send the JSON as it is."))
        try:
            return decode_arguments(await self._whole_body(), shape)
        except BadArguments as exc:
            raise bad_arguments(str(exc)) from exc

    async def fingerprint(self) -> bytes:
        """Return what two requests share only where command and arguments are the same.

        Raises PrinterRefused (751) where the body is too large.
        """
        body = canonical_arguments(await self._whole_body())
        content = (self.command, sorted(self._query.items()), body)
        return hashlib.sha256(repr(content).encode()).digest()

    async def _whole_body(self) -> bytes:
        if self._body is None:
            self._body = await self.stream.read(MAX_ARGUMENTS_BYTES)
        if self._body is None:
            raise bad_arguments(N_("The body is larger than 64 KiB."))
        return self._body

    async def status_query(self) -> StatusQuery:
        """GET takes it from the query, POST as JSON."""
        if self.method == b"POST":
            return await self.arguments(StatusQuery)
        names = ("IncludeMaterialSystem", "include_material_system")
        return StatusQuery(include_material_system=self.flag(*names))

    def content_length(self) -> int | None:
        value = get(self.headers, b"content-length")
        return int(value) if value is not None and value.isdigit() else None


async def _to_its_end(task: asyncio.Task[T]) -> None:
    """Wait for the end of a task; if this is cancelled, the task is cancelled, and waited for."""
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_cancelled = True
            _cancel_once(task)
    if is_cancelled:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio doesn't log it
        raise asyncio.CancelledError


def _cancel_once(task: asyncio.Task[T]) -> None:
    if not task.cancelling():
        task.cancel()


def bad_arguments(sentence: str) -> PrinterRefused:
    return PrinterRefused(CommandStatus.BAD_ARGUMENTS, sentence)


def _read_query(query: bytes) -> dict[str, str]:
    """Parse the query: names in lower case, the first of a repeated one counts.

    751 unless UTF-8.
    """
    try:
        pairs = parse_qsl(
            query.decode("latin-1"), keep_blank_values=True, encoding="utf-8", errors="strict"
        )
        unquote_to_bytes(query)
    except (UnicodeDecodeError, ValueError) as exc:
        raise bad_arguments(N_("The query is not UTF-8.")) from exc
    values: dict[str, str] = {}
    for name, value in pairs:
        values.setdefault(name.lower(), value)
    return values
