"""DNS lookups of names that strangers chose, isolated from each other; this machine's addresses.

A name server that never answers blocks a thread for half a minute, and the event loop has few
threads for lookups. So each lookup has a thread of its own, no name has two at a time, and names
that were resolved recently never wait for a slot after those that were not.
"""

import asyncio
import socket
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias, TypeVar

A = TypeVar("A")
T = TypeVar("T")
Lookup: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a host name; raises OSError if there are none."""
FindAddresses: TypeAlias = Callable[[str], Sequence[str]]

FOUND_AT_ONCE: Final = 16
OTHERS_AT_ONCE: Final = 32
MAX_REMEMBERED: Final = 10_000


class Lookups:
    """A Lookup by the machine's own resolver. find: blocks."""

    def __init__(self, find: FindAddresses | None = None) -> None:
        self._find = find or _find
        self._under_way: dict[str, asyncio.Task[Sequence[str]]] = {}
        self._found: OrderedDict[str, None] = OrderedDict()
        self._slots_of_found = asyncio.Semaphore(FOUND_AT_ONCE)
        self._slots_of_others = asyncio.Semaphore(OTHERS_AT_ONCE)

    async def __call__(self, host: str) -> Sequence[str]:
        """Return the addresses. If a caller gives up, the lookup continues for later ones."""
        task = self._under_way.get(host)
        if task is None:
            task = asyncio.create_task(self._look_up(host))
            self._under_way[host] = task
            task.add_done_callback(lambda done: self._ended(host, done))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Stop. Threads that wait for a name server end with the process."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_up(self, host: str) -> Sequence[str]:
        slots = self._slots_of_found if host in self._found else self._slots_of_others
        async with slots:
            addresses = await on_daemon_thread(self._find, host)
        self._found[host] = None
        self._found.move_to_end(host)
        if len(self._found) > MAX_REMEMBERED:
            self._found.popitem(last=False)
        return addresses

    def _ended(self, host: str, task: asyncio.Task[Sequence[str]]) -> None:
        del self._under_way[host]
        if not task.cancelled() and task.exception() is not None:
            self._found.pop(host, None)


def _find(host: str) -> Sequence[str]:
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))


async def on_daemon_thread(work: Callable[[A], T], argument: A) -> T:
    """Run what blocks on a thread that is not waited for when the program ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work(argument)
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            _tell(loop, future.set_exception, future, error)
        else:
            _tell(loop, future.set_result, future, result)

    threading.Thread(target=run, name="lookup", daemon=True).start()
    return await future


def _tell(
    loop: asyncio.AbstractEventLoop,
    tell: Callable[..., None],
    future: asyncio.Future[T],
    what: object,
) -> None:
    def on_the_loop() -> None:
        if not future.done():
            tell(what)

    try:
        loop.call_soon_threadsafe(on_the_loop)
    except RuntimeError:
        pass  # the loop is closed: no caller waits any more


def is_own_address(address: str) -> bool:
    """Return whether the machine would reach that address without leaving itself.

    The kernel tells from which address it would send: to an own one from that one. Nothing is sent.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
            return bool(probe.getsockname()[0] == address)
        except OSError:
            return False
