"""Following a printer that comes and goes."""

import asyncio

import pytest

from printreach.contract.commands import CommandStatus
from printreach.printers.following import UpdateSignal, keep_following
from printreach.printers.port import PrinterRefused

REFUSED = PrinterRefused(CommandStatus.NOT_CONNECTED, "It is switched off.")


def waits_of(speaks: list[bool], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the wait after each try; True: the printer sent something before it was lost."""
    heard, left = object(), list(speaks)
    lost: list[PrinterRefused] = []
    waited: list[float] = []

    async def follow() -> None:
        nonlocal heard
        if not left:
            raise asyncio.CancelledError
        if left.pop(0):
            heard = object()
        raise REFUSED

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("printreach.printers.following.asyncio.sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(keep_following(follow, lost.append, lambda: heard, lambda _low, high: high))
    assert lost == [REFUSED] * len(speaks)
    return waited


def test_a_printer_that_says_nothing_is_asked_ever_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert waits_of([False] * 6, monkeypatch) == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0]


def test_one_that_spoke_before_it_was_lost_is_tried_again_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert waits_of([False, False, True, False], monkeypatch) == [1.0, 2.0, 1.0, 2.0]


def test_who_waits_for_what_a_printer_says_hears_of_it_once_it_is_so() -> None:
    async def wait() -> bool:
        news = UpdateSignal()
        said: list[str] = []
        waiting = asyncio.create_task(news.wait_until(lambda: len(said) == 2, 60.0))
        for word in ("one", "two"):
            await asyncio.sleep(0)
            said.append(word)
            news.tell()
        return await waiting

    assert asyncio.run(wait())


def test_what_is_so_already_needs_no_word() -> None:
    assert asyncio.run(UpdateSignal().wait_until(lambda: True, 0.0))


def test_waiting_ends_without_it_when_its_time_is_over() -> None:
    assert not asyncio.run(UpdateSignal().wait_until(lambda: False, 0.01))
