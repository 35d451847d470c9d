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
from printreach.printers.port import PrinterRefused

REMEMBERED_S = 600.0
MAX_REMEMBERED = 256
KEY_USED_BEFORE = (
    "This Idempotency-Key was used for another command or with other arguments; "
    "nothing was carried out."
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


@dataclass(frozen=True, slots=True)
class _Command:
    """A command that came at that time. fingerprint: of the command with its arguments."""

    at: float
    fingerprint: bytes
    result: asyncio.Task[bytes]


class Replays:
    """Results of commands by their ids."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._commands: OrderedDict[bytes, _Command] = OrderedDict()

    async def once(
        self, command_id: bytes, fingerprint: bytes, carry_out: Callable[[], Awaitable[bytes]]
    ) -> bytes:
        """Return the result of the command of that id: carried out now, or when it first came.

        A repeat that comes while the first still runs waits for it. The first caller may have
        gone away: the command is carried out to its end all the same. Raises PrinterRefused (751)
        where the id came with another fingerprint before: the first result is not this command's.
        """
        self._forget_old()
        known = self._commands.get(command_id)
        if known is None:
            task = asyncio.create_task(_finish(carry_out))
            known = self._commands[command_id] = _Command(self._now(), fingerprint, task)
            if len(self._commands) > MAX_REMEMBERED:
                self._commands.popitem(last=False)
        elif known.fingerprint != fingerprint:
            raise PrinterRefused(CommandStatus.BAD_ARGUMENTS, KEY_USED_BEFORE)
        return await asyncio.shield(known.result)

    def _forget_old(self) -> None:
        limit = self._now() - REMEMBERED_S
        while self._commands:
            command_id, oldest = next(iter(self._commands.items()))
            if oldest.at > limit or not oldest.result.done():
                return
            del self._commands[command_id]


async def _finish(carry_out: Callable[[], Awaitable[bytes]]) -> bytes:
    return await carry_out()
