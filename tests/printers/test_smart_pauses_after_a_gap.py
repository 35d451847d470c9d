"""After a gap, a smart pause is restored only in what is proven to be the same print.

A file that pauses itself does so at the same place each time it is printed.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.printers.port import PrinterRefused
from printreach.printers.print_progress import PrintProgress
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.printers.resting_print import (
    GOING,
    PAUSED,
    after_restart,
    is_saved,
    resting_as,
    settle,
    stored,
)

NAMELESS = PrintProgress(duration_s=100.0, position=(5000.0,))
BEGUN = replace(NAMELESS, began_s=40.0)
NAMED = replace(NAMELESS, print_id="7")

RESTORED = ["heat", "lower 10", "resume"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEGUN, BEGUN),
        (BEGUN, replace(BEGUN, began_s=41.5, duration_s=900.0)),
        (NAMED, NAMED),
        (NAMED, replace(NAMED, began_s=40.0)),
    ],
)
def test_the_same_id_or_beginning_gives_it_back_after_a_restart(
    tmp_path: Path, before: PrintProgress, after: PrintProgress
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        resting_as(tmp_path, before)
        platform, pauses = after_restart(tmp_path, after)
        await pauses.resume()

        assert platform.done == RESTORED

    body()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEGUN, replace(BEGUN, began_s=140.0)),
        (BEGUN, replace(BEGUN, began_s=-140.0)),
        (replace(BEGUN, print_id="7"), replace(BEGUN, print_id="7", began_s=140.0)),
    ],
)
def test_a_print_that_paused_at_the_same_place_but_began_at_another_time_gets_nothing(
    tmp_path: Path, before: PrintProgress, after: PrintProgress
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        resting_as(tmp_path, before)
        platform, pauses = after_restart(tmp_path, after)
        assert not is_saved(tmp_path)
        await pauses.resume()

        assert platform.done == ["resume"]

    body()


@pytest.mark.parametrize(
    ("before", "after"), [(NAMELESS, NAMELESS), (BEGUN, NAMELESS), (NAMELESS, BEGUN)]
)
def test_where_it_cannot_be_known_a_resume_says_so_once_and_gives_nothing_back(
    tmp_path: Path, before: PrintProgress, after: PrintProgress
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        resting_as(tmp_path, before)
        platform, pauses = after_restart(tmp_path, after)
        with pytest.raises(PrinterRefused, match="can't be known") as refused:
            await pauses.resume()
        assert "Set temperatures" in refused.value.sentence
        assert platform.done == []
        assert not is_saved(tmp_path)
        await pauses.resume()

        assert platform.done == ["resume"]

    body()


@on_a_hasty_loop
async def test_where_it_cannot_be_known_a_print_that_goes_on_gets_nothing(tmp_path: Path) -> None:
    resting_as(tmp_path, NAMELESS)
    platform, _ = after_restart(tmp_path, NAMELESS)
    platform.becomes(replace(GOING, progress=NAMELESS))
    await settle()

    assert platform.done == []
    assert not is_saved(tmp_path)


@on_a_hasty_loop
async def test_nor_does_it_after_the_printer_was_out_of_sight(tmp_path: Path) -> None:
    platform, _ = resting_as(tmp_path, NAMELESS)
    platform.becomes(None)
    platform.becomes(replace(PAUSED, progress=NAMELESS))
    platform.becomes(replace(GOING, progress=NAMELESS))
    await settle()

    assert platform.done == []


@on_a_hasty_loop
async def test_a_print_that_nobody_lost_sight_of_needs_no_proof(tmp_path: Path) -> None:
    platform, pauses = resting_as(tmp_path, NAMELESS)
    platform.becomes(replace(PAUSED, progress=replace(NAMELESS, duration_s=500.0)))
    await pauses.resume()

    assert platform.done == RESTORED


@on_a_hasty_loop
async def test_a_beginning_that_is_told_later_is_remembered_too(tmp_path: Path) -> None:
    platform, _ = resting_as(tmp_path, NAMELESS)
    platform.becomes(replace(PAUSED, progress=BEGUN))
    saved = stored(tmp_path)

    assert saved is not None
    assert saved.progress == BEGUN
    platform, pauses = after_restart(tmp_path, BEGUN)
    await pauses.resume()
    assert platform.done == RESTORED


@on_a_hasty_loop
async def test_a_print_that_is_paused_again_under_our_eyes_keeps_what_was_taken(
    tmp_path: Path,
) -> None:
    """Each pause has its own beginning, if pauses have one at all."""
    platform, _ = resting_as(tmp_path, BEGUN)
    platform.obeys = False
    platform.becomes(replace(GOING, progress=replace(BEGUN, began_s=None)))
    await asyncio.sleep(1.0)
    platform.becomes(replace(PAUSED, progress=replace(BEGUN, began_s=900.0)))
    await settle()

    assert platform.done == ["pause", *RESTORED]
