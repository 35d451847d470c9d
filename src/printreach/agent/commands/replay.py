"""Commands never replay: late ones are refused, repeated ones get the first result.

In 2023 a service queued commands through an outage, and printers started by themselves afterwards.
Here a command carries its time of expiry by the service's clock, which the agent knows since
sign-in, whatever its own clock shows.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

REMEMBERED_S = 600.0
MAX_REMEMBERED = 256


class ServiceClock:
    """The service's time, computed from this machine's monotonic clock."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._offset_s: float | None = None

    def told(self, unix_s: float) -> None:
        """Set the clock by the service's time."""
        self._offset_s = unix_s - self._now()

    def unix_s(self) -> float | None:
        """Return the service's time; None before the first sign-in."""
        return None if self._offset_s is None else self._now() + self._offset_s


class Replays:
    """Results of commands by their ids."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._results: OrderedDict[str, tuple[float, asyncio.Task[bytes]]] = OrderedDict()

    async def once(self, command_id: str, carry_out: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the result of the command of that id: carried out now, or when it first came.

        A repeat that comes while the first still runs waits for it. Whoever asked first may have
        gone away: the command is carried out to its end all the same.
        """
        self._forget_old()
        known = self._results.get(command_id)
        if known is None:
            task = asyncio.create_task(_finish(carry_out))
            self._results[command_id] = (self._now(), task)
            if len(self._results) > MAX_REMEMBERED:
                self._results.popitem(last=False)
        else:
            task = known[1]
        return await asyncio.shield(task)

    def _forget_old(self) -> None:
        limit = self._now() - REMEMBERED_S
        while self._results:
            command_id, (at, task) = next(iter(self._results.items()))
            if at > limit or not task.done():
                return
            del self._results[command_id]


async def _finish(carry_out: Callable[[], Awaitable[bytes]]) -> bytes:
    return await carry_out()
