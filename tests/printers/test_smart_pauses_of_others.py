"""A smart pause is restored in no other print, within limits, and moves once."""

from dataclasses import replace
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import PrintProgress, PrintReport
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.printers.resting_print import (
    AT,
    GOING,
    PAUSED,
    SAVED,
    begun,
    is_saved,
    resting,
    settle,
)

# --- another print --------------------------------------------------------------------------------

OTHERS = [
    replace(GOING, path="b.gcode"),
    replace(GOING, path=""),
    replace(GOING, progress=replace(AT, print_id="8")),
    replace(GOING, progress=replace(AT, duration_s=99.0)),
    replace(GOING, progress=replace(AT, duration_s=None)),
    replace(GOING, progress=replace(AT, position=(4999.0,))),
    replace(GOING, progress=replace(AT, position=())),
    replace(GOING, state=State.WARMING_UP, progress=PrintProgress(duration_s=0.0)),
]


@pytest.mark.parametrize("repauses", [True, False])
@pytest.mark.parametrize("other", OTHERS)
def test_another_print_gets_nothing(tmp_path: Path, other: PrintReport, repauses: bool) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path, repauses=repauses)
        platform.warm = True
        platform.becomes(other)
        await settle()
        assert platform.done == []
        assert not is_saved(tmp_path)

        platform.becomes(replace(other, state=State.PAUSED, is_paused=True))
        await pauses.resume()
        assert platform.done == ["resume"]

    body()


@pytest.mark.parametrize("repauses", [True, False])
@pytest.mark.parametrize("other", [*OTHERS, GOING])
def test_after_a_restart_no_print_that_goes_on_gets_anything(
    tmp_path: Path, other: PrintReport, repauses: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The same file may have been started again meanwhile, and be further by now."""

    @on_a_hasty_loop
    async def body() -> None:
        resting(tmp_path)
        platform, _ = begun(tmp_path, repauses=repauses)
        platform.becomes(other)
        await settle()

        assert platform.done == []
        assert not is_saved(tmp_path)

    body()
    assert "the smart pause is not undone" in caplog.text


@pytest.mark.parametrize(
    "other",
    [
        *(replace(one, state=State.PAUSED, is_paused=True) for one in OTHERS),
        replace(PAUSED, progress=replace(AT, position=(5001.0,))),
    ],
)
def test_after_a_restart_a_pause_elsewhere_gets_nothing(tmp_path: Path, other: PrintReport) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        resting(tmp_path)
        platform, pauses = begun(tmp_path)
        platform.print = other
        await pauses.resume()

        assert platform.done == ["resume"]
        assert not is_saved(tmp_path)

    body()


@on_a_hasty_loop
async def test_a_printer_that_was_lost_meanwhile_is_a_stranger_unless_it_is_still_paused(
    tmp_path: Path,
) -> None:
    platform, pauses = resting(tmp_path)
    platform.becomes(None)
    platform.becomes(PAUSED)
    platform.becomes(None)
    platform.becomes(GOING)
    await settle()

    assert platform.done == []
    assert not is_saved(tmp_path)
    await pauses.close()


@on_a_hasty_loop
async def test_what_an_older_agent_stored_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "saved.json").write_text('{"path": "a.gcode", "lift_mm": 10}')
    platform, pauses = begun(tmp_path)
    platform.becomes(PAUSED)
    await pauses.resume()

    assert platform.done == ["resume"]


@on_a_hasty_loop
async def test_nothing_is_taken_from_a_print_that_could_not_be_known_again(tmp_path: Path) -> None:
    for unknown in (replace(PAUSED, path=""), replace(PAUSED, progress=PrintProgress())):
        platform, pauses = begun(tmp_path)
        platform.print = unknown

        assert not pauses.remember(replace(SAVED, path=unknown.path))
        assert not is_saved(tmp_path)


# --- limits, and moves that may have been made ----------------------------------------------------


@on_a_hasty_loop
async def test_a_limit_that_was_lowered_since_refuses_the_resume_and_says_so(
    tmp_path: Path,
) -> None:
    platform, pauses = resting(tmp_path)
    platform.limit = "ToolC must be 0 to 200."
    with pytest.raises(PrinterRefused, match="ToolC must be 0 to 200"):
        await pauses.resume()

    assert platform.done == []
    assert is_saved(tmp_path)


@on_a_hasty_loop
async def test_nor_does_a_resume_at_the_printer_get_past_it(tmp_path: Path) -> None:
    platform, _ = resting(tmp_path)
    platform.limit = "ToolC must be 0 to 200."
    platform.becomes(GOING)
    await settle()

    assert platform.done == []


@pytest.mark.parametrize(
    ("refusal", "is_whole", "again"),
    [
        (failed("No."), True, ["heat", "lower 10", "resume"]),
        (failed("No."), False, ["heat", "resume"]),
        (PrinterRefused(CommandStatus.TIMED_OUT, "No answer."), True, ["heat", "resume"]),
    ],
)
def test_the_nozzle_is_lowered_once_whatever_became_of_the_answer(
    tmp_path: Path, refusal: PrinterRefused, is_whole: bool, again: list[str]
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path)
        platform.warm, platform.refuses_moves_whole = True, is_whole
        platform.refusal = {"lower 10": refusal}
        with pytest.raises(PrinterRefused):
            await pauses.resume()
        platform.done.clear()
        await pauses.resume()

        assert platform.done == again

    body()
