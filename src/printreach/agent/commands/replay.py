"""Commands never replay: late ones are refused, repeated ones get the first result.

In 2023 a service queued commands through an outage, and printers started by themselves afterwards.
Here a command carries its time of expiry by the service's clock, which the agent knows since
sign-in, whatever its own clock shows.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from printreach.contract.commands import CommandStatus
from printreach.printers.port import PrinterRefused

REMEMBERED_S = 600.0
MAX_REMEMBERED = 256
"""Commands of one connection."""
MAX_BYTES = 1024 * 1024
"""Of what is remembered of all connections."""
COMMAND_BYTES = 1024
"""Bytes that a command takes beside its result, roughly."""
KEY_USED_BEFORE = (
    "This Idempotency-Key was used for another command or with other arguments; "
    "nothing was carried out."
)
TOO_MANY_UNDER_WAY = "Too many orders are under way; nothing was carried out."


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
    """A command that came at that time. fingerprint: of the command with its arguments.

    size_bytes: of what is remembered of it.
    """

    at: float
    fingerprint: bytes
    size_bytes: int = COMMAND_BYTES
    result: asyncio.Task[bytes] = field(init=False)


class _Connection(OrderedDict[bytes, _Command]):
    """The commands of one connection by their ids, oldest first."""

    @property
    def size_bytes(self) -> int:
        return sum(command.size_bytes for command in self.values())

    def forget_one(self) -> bool:
        """Forget the oldest that is finished; False where all are under way."""
        for command_id, command in self.items():
            if command.result.done():
                del self[command_id]
                return True
        return False

    def forget_before(self, at: float) -> None:
        while self:
            command_id, oldest = next(iter(self.items()))
            if oldest.at > at or not oldest.result.done():
                return
            del self[command_id]


class Replays:
    """Results of commands by their ids, for each connection apart.

    What is before the dot in an id names the connection. Ids of older relays have no dot, and count
    as those of one connection.
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
    ) -> bytes:
        """Return the result of the command of that id: carried out now, or when it first came.

        A repeat that comes while the first still runs waits for it. The first caller may have
        gone away: the command is carried out to its end all the same. A command that was refused
        before it acted on the printer is not remembered. Raises PrinterRefused: 751 where the id
        came with another fingerprint before, since the first result is not this command's; 786
        where too many are under way.
        """
        self._forget_old()
        name = command_id.rpartition(b".")[0]
        connection = self._connections.setdefault(name, _Connection())
        known = connection.get(command_id)
        if known is None:
            self._make_room_in(connection)
            known = _Command(at=self._now(), fingerprint=fingerprint)
            known.result = asyncio.create_task(_finish(known, carry_out))
            known.result.add_done_callback(
                lambda _: self._finished(connection, command_id, has_acted=has_acted())
            )
            connection[command_id] = known
        elif known.fingerprint != fingerprint:
            raise PrinterRefused(CommandStatus.BAD_ARGUMENTS, KEY_USED_BEFORE)
        return await asyncio.shield(known.result)

    def _finished(self, connection: _Connection, command_id: bytes, *, has_acted: bool) -> None:
        if not has_acted:
            connection.pop(command_id, None)
        self._shrink(MAX_BYTES)

    def _make_room_in(self, connection: _Connection) -> None:
        has_room = len(connection) < MAX_REMEMBERED or connection.forget_one()
        if not (has_room and self._shrink(MAX_BYTES - COMMAND_BYTES)):
            raise PrinterRefused(CommandStatus.INVALID_STATE, TOO_MANY_UNDER_WAY)

    def _shrink(self, at_most: int) -> bool:
        """Forget the oldest of the connection with the most; False where all are under way."""
        while sum(one.size_bytes for one in self._connections.values()) > at_most:
            if not max(self._connections.values(), key=lambda one: one.size_bytes).forget_one():
                return False
        return True

    def _forget_old(self) -> None:
        for name, connection in list(self._connections.items()):
            connection.forget_before(self._now() - REMEMBERED_S)
            if not connection:
                del self._connections[name]


async def _finish(command: _Command, carry_out: Callable[[], Awaitable[bytes]]) -> bytes:
    result = await carry_out()
    command.size_bytes += len(result)
    return result
