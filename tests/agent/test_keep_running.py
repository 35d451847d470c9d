"""The agent's main tasks are restarted after a failure."""

import asyncio
from collections.abc import Callable

import pytest

from printreach.agent.printer import STEADY_S, keep_running
from tests.fakes.hasty_loop import on_a_hasty_loop


class Work:
    """Runs as it is told, one run after the other; then for ever. begun_at: loop times."""

    def __init__(self, *runs: Callable[[], object]) -> None:
        self.begun_at: list[float] = []
        self._runs = list(runs)

    async def run(self) -> None:
        self.begun_at.append(asyncio.get_running_loop().time())
        if not self._runs:
            await asyncio.Event().wait()
        self._runs.pop(0)()

    @property
    def waits_s(self) -> list[float]:
        return [b - a for a, b in zip(self.begun_at, self.begun_at[1:], strict=False)]


def stumble() -> None:
    raise KeyError("layer")


def longest(_low: float, high: float) -> float:
    return high


async def for_a_while(work: Work, seconds: float = 300.0) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(seconds):
            await keep_running("the work", work.run, longest)


@on_a_hasty_loop
async def test_work_that_stumbles_begins_again_later_and_later() -> None:
    work = Work(stumble, stumble, stumble)

    await for_a_while(work)

    assert work.waits_s == pytest.approx([0.5, 1.0, 2.0], abs=0.1)


@on_a_hasty_loop
async def test_work_that_ends_begins_again() -> None:
    work = Work(lambda: None)

    await for_a_while(work)

    assert len(work.begun_at) == 2


@on_a_hasty_loop
async def test_what_stumbled_long_ago_is_forgotten() -> None:
    class Lasting(Work):
        async def run(self) -> None:
            if len(self.begun_at) == 2:
                self.begun_at.append(asyncio.get_running_loop().time())
                await asyncio.sleep(STEADY_S)
                raise KeyError("layer")
            await super().run()

    work = Lasting(stumble, stumble)

    await for_a_while(work)

    assert work.waits_s == pytest.approx([0.5, 1.0, STEADY_S + 0.5], abs=0.1)
