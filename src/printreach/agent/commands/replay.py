"""Commands never replay: late ones are refused, repeated ones get the first result.

In 2023 a service queued commands through an outage, and printers started by themselves afterwards.
Here a command carries its time of expiry by the service's clock, which the agent knows since
sign-in, whatever its own clock shows.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from printreach.contract.commands import CommandStatus
from printreach.languages import N_, in_english
from printreach.printers.port import PrinterRefused

REMEMBERED_S = 600.0
MAX_UNDER_WAY = 32
"""Commands of one connection at once: far more than a person or an app has to give."""
MAX_REMEMBERED = 256
"""Finished commands of one connection."""
MAX_BYTES = 1024 * 1024
"""Of what is remembered of the finished commands of all connections."""
COMMAND_BYTES = 1024
"""Bytes that a command takes beside its result, roughly."""
KEY_USED_BEFORE = N_(
    "This Idempotency-Key was used for another command or with other arguments; "
    "nothing was carried out."
)
TOO_MANY_UNDER_WAY = in_english(
    "This connection has %(orders)s such orders under way, and may have no more at once; "
    "nothing was carried out.",
    orders=MAX_UNDER_WAY,
)


class ServiceClock:
    """The service's time, computed from this machine's monotonic clock."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._offset_s: float | None = None

    def set(self, unix_s: float) -> None:
        """Set the clock by the service's time."""
        self._offset_s = unix_s - self._now()

    def unix_s(self) -> float | None:
        """Return the service's time; None before the first sign-in."""
        return None if self._offset_s is None else self._now() + self._offset_s


@dataclass(kw_only=True, slots=True)
class _Command:
    """A command with its result. fingerprint: of the command with its arguments."""

    fingerprint: bytes
    counted_as: bytes
    result: asyncio.Task[bytes]
    finished_at: float = 0.0
    size_bytes: int = COMMAND_BYTES


class _Connection:
    """The commands of one connection by their ids; the finished ones oldest first."""

    def __init__(self) -> None:
        self.under_way: dict[bytes, _Command] = {}
        self.finished: OrderedDict[bytes, _Command] = OrderedDict()
        self.finished_bytes = 0

    def require_room(self, counted_as: bytes) -> None:
        """Raises PrinterRefused (786) where too many are under way."""
        same = sum(command.counted_as == counted_as for command in self.under_way.values())
        if same >= MAX_UNDER_WAY:
            raise PrinterRefused(CommandStatus.INVALID_STATE, TOO_MANY_UNDER_WAY)

    def remember(self, command_id: bytes, command: _Command) -> None:
        self.finished[command_id] = command
        self.finished_bytes += command.size_bytes
        if len(self.finished) > MAX_REMEMBERED:
            self.forget_oldest()

    def forget_oldest(self) -> None:
        _, oldest = self.finished.popitem(last=False)
        self.finished_bytes -= oldest.size_bytes

    def forget_before(self, at: float) -> None:
        while self.finished and next(iter(self.finished.values())).finished_at <= at:
            self.forget_oldest()


class Replays:
    """Results of commands by their ids, for each connection apart.

    What is before the dot in an id names the connection. Ids of older relays have no dot, and count
    as those of one connection. A connection is refused for its own commands under way alone, never
    for those of others: an app must not keep its owner from stopping the printer. The service
    bounds how many connections a printer has.
    """

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._connections: dict[bytes, _Connection] = {}

    async def once(
        self,
        command_id: bytes,
        fingerprint: bytes,
        carry_out: Callable[[], Awaitable[bytes]],
        has_acted: Callable[[], bool],
        *,
        counted_as: bytes = b"",
    ) -> bytes:
        """Return the result of the command of that id: carried out now, or when it first came.

        A repeat that comes while the first still runs waits for it. The first caller may have
        gone away: the command is carried out to its end all the same. A command that was refused
        before it acted on the printer is not remembered. counted_as: commands under way are
        limited for each value apart. Raises PrinterRefused: 751 where the id came with another
        fingerprint before, since the first result is not this command's; 786 where the connection
        has too many under way.
        """
        self._forget_old()
        name = command_id.rpartition(b".")[0]
        connection = self._connections.setdefault(name, _Connection())
        known = connection.under_way.get(command_id) or connection.finished.get(command_id)
        if known is None:
            connection.require_room(counted_as)
            result = self._carry_out(connection, command_id, carry_out, has_acted)
            known = connection.under_way[command_id] = _Command(
                fingerprint=fingerprint, counted_as=counted_as, result=asyncio.create_task(result)
            )
        elif known.fingerprint != fingerprint:
            raise PrinterRefused(CommandStatus.BAD_ARGUMENTS, KEY_USED_BEFORE)
        return await asyncio.shield(known.result)

    async def _carry_out(
        self,
        connection: _Connection,
        command_id: bytes,
        carry_out: Callable[[], Awaitable[bytes]],
        has_acted: Callable[[], bool],
    ) -> bytes:
        try:
            result = await carry_out()
            connection.under_way[command_id].size_bytes += len(result)
            return result
        finally:
            command = connection.under_way.pop(command_id)
            if has_acted():
                command.finished_at = self._now()
                connection.remember(command_id, command)
                self._shrink()

    def _shrink(self) -> None:
        """Forget results of the connection with the most, until all fit."""
        connections = self._connections.values()
        while sum(one.finished_bytes for one in connections) > MAX_BYTES:
            max(connections, key=lambda one: one.finished_bytes).forget_oldest()

    def _forget_old(self) -> None:
        for name, connection in list(self._connections.items()):
            connection.forget_before(self._now() - REMEMBERED_S)
            if not (connection.under_way or connection.finished):
                del self._connections[name]
