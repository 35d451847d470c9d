"""A simulated printer on a port of its own, and a client for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

from printreach.printers.simulated.runner import RunningPrinter, run_simulated_printer

DEADLINE_S = 60.0
"""Longer than a busy machine stands still."""
PART = b"G28\nM109 S200\nG90\nM83\n" + b"G1 X50 E2 F6000\nG1 X0 E2\n" * 20


def run(test: Coroutine[object, object, None]) -> None:
    async def with_deadline() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await test

    asyncio.run(with_deadline())


async def until(is_so: Callable[[], object]) -> None:
    """Return once it is so, looked at again and again."""
    for _ in range(3000):
        if is_so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


@dataclass(frozen=True)
class Site:
    """The printer, seen from outside. Addresses are relative to its own."""

    http: aiohttp.ClientSession
    running: RunningPrinter
    folder: Path

    async def order(self, name: str, **arguments: object) -> dict[str, Any]:
        async with self.http.post(f"/api/{name}", json=arguments) as answer:
            reported: dict[str, Any] = await answer.json()
            return {"Http": answer.status, **reported}

    async def status(self) -> dict[str, Any]:
        async with self.http.get("/api/status") as answer:
            reported: dict[str, Any] = await answer.json()
            return reported

    async def until(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first status that is so, asked for again and again."""
        for _ in range(1500):
            if is_so(now := await self.status()):
                return now
            await asyncio.sleep(0.02)
        raise AssertionError("it never came to that")


@asynccontextmanager
async def site(
    *, speed: float = 100.0, files: dict[str, bytes] | None = None
) -> AsyncIterator[Site]:
    """A printer whose time flies, and an aiohttp client. files: by default, part.gcode alone."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name, data in ({"part.gcode": PART} if files is None else files).items():
            (folder / name).write_bytes(data)
        running = await run_simulated_printer("127.0.0.1", 0, folder=folder, speed=speed)
        base = f"http://127.0.0.1:{running.port}"
        try:
            async with aiohttp.ClientSession(base) as http:
                yield Site(http, running, folder)
        finally:
            await running.close()


def complete(status: dict[str, Any]) -> bool:
    return bool(status["State"] == "complete")
