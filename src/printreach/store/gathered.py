"""Does for many callers at once what each of them asks for."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from printreach.ports import StoreUnavailable

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE: Final = 100
"""So that other units of work get their turn."""


class Gathered(Generic[Item, Result]):
    """Items that come while others are worked on go together into the next work.

    So one at a time costs no wait, and thousands of agents that connect at the same time cost few
    units of work. Where one item makes the work fail, each of its group is tried alone.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
        *,
        at_once: int = AT_ONCE,
        size: Callable[[Item], int] = lambda _: 1,
    ) -> None:
        """work: returns a result for each item, in their order. at_once: by the sum of sizes."""
        self._work = work
        self._at_once = at_once
        self._size = size
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._working: asyncio.Task[None] | None = None

    async def do(self, item: Item) -> Result:
        """Return the result of this item. Raises what the work raises."""
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._do_all())
        return await done

    async def _do_all(self) -> None:
        while group := self._next_group():
            await self._do_together(group)

    async def _do_together(self, group: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        failure: Exception = StoreUnavailable("The service stops.")
        try:
            results = await self._work([item for item, _ in group])
            for (_, done), result in zip(group, results, strict=True):
                if not done.done():
                    done.set_result(result)
        except StoreUnavailable as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - those who wait get it, and may try again
            failure = error
            if len(group) > 1:
                for one in group:
                    await self._do_together([one])
        finally:
            for _, done in group:
                if not done.done():
                    done.set_exception(failure)

    def _next_group(self) -> list[tuple[Item, asyncio.Future[Result]]]:
        size, group = 0, []
        while self._waiting and size < self._at_once:
            item, done = self._waiting.pop(0)
            if not done.done():  # its agent may have disconnected
                group.append((item, done))
                size += self._size(item)
        return group
