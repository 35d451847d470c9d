"""Restoring what a smart pause took: in the very same print, and in no other case."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers import loose
from printreach.printers.following import UpdateSignal
from printreach.printers.port import PrinterRefused, View, failed
from printreach.printers.print_progress import PrintProgress, SeenPrint, parse_progress
from printreach.printers.saved_state import SavedStateStore
from printreach.printers.smart_pauses import SmartPauses
from tests.fakes.hasty_loop import on_a_hasty_loop

AT = PrintProgress(print_id="7", duration_s=100.0, position=(5000.0,))
PAUSED = SeenPrint(state=State.PAUSED, is_paused=True, path="a.gcode", progress=AT)
PAUSING = replace(PAUSED, is_paused=False)
GOING = replace(PAUSED, state=State.PRINTING, is_paused=False)
CANCELLED = replace(GOING, state=State.CANCELLED)


@dataclass(frozen=True, kw_only=True)
class Saved:
    path: str = "a.gcode"
    lift_mm: int = 10
    progress: PrintProgress = field(default_factory=PrintProgress)

    @property
    def has_heat(self) -> bool:
        return True

    @property
    def has_moves(self) -> bool:
        return bool(self.lift_mm)


def parse(told: object) -> Saved | None:
    path = loose.text(told, "path")
    if path is None:
        return None
    lift_mm = loose.count(told, "lift_mm") or 0
    return Saved(path=path, lift_mm=lift_mm, progress=parse_progress(told))


class FakePlatform:
    """done: the orders that reached the printer. obeys: what the printer does of one."""

    refuses_moves_whole = True

    def __init__(self, *, repauses: bool = True) -> None:
        self.repauses = repauses
        self.print: SeenPrint | None = PAUSED
        self.warm = True
        self.limit: str | None = None
        self.done: list[str] = []
        self.obeys = True
        self.refusal: dict[str, PrinterRefused] = {}
        self.takes_s: dict[str, float] = {}
        self._updates = UpdateSignal()
        self.on_update: Callable[[], None] = lambda: None

    def becomes(self, seen: SeenPrint | None) -> None:
        self.print = seen
        self.on_update()
        self._updates.tell()

    def warms_up(self) -> None:
        self.warm = True
        self.on_update()
        self._updates.tell()

    def seen(self) -> SeenPrint | None:
        return self.print

    def is_warm(self, saved: Saved) -> bool:  # all of it or nothing
        return self.warm

    def without_moves(self, saved: Saved) -> Saved:
        return replace(saved, lift_mm=0)

    def limit_problem(self, saved: Saved) -> str | None:  # as the test says
        return self.limit

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._updates.wait_until(condition, seconds)

    async def pause_print(self) -> None:
        await self._take("pause", PAUSED)

    async def resume_print(self) -> None:
        await self._take("resume", GOING)

    async def heat(self, saved: Saved) -> None:
        await self._take("heat")

    async def move_back(self, saved: Saved) -> None:
        await self._take(f"lower {saved.lift_mm}")

    async def cancel(self) -> None:
        await self._take("cancel", CANCELLED)

    async def _take(self, order: str, then: SeenPrint | None = None) -> None:
        await asyncio.sleep(self.takes_s.get(order, 0.0))
        self.done.append(order)
        if order in self.refusal:
            raise self.refusal.pop(order)
        if then is not None and self.obeys:
            self.becomes(then)


Rig = tuple[FakePlatform, SmartPauses[Saved]]


def begun(folder: Path, *, repauses: bool = True) -> Rig:
    """An agent that starts beside the printer."""
    platform = FakePlatform(repauses=repauses)
    pauses = SmartPauses(SavedStateStore(folder / "saved.json", parse), platform)
    platform.on_update = pauses.on_update
    return platform, pauses


def resting(folder: Path, *, repauses: bool = True) -> Rig:
    """A print that rests in a smart pause."""
    platform, pauses = begun(folder, repauses=repauses)
    pauses.remember(Saved())
    platform.warm = False
    return platform, pauses


def is_saved(folder: Path) -> bool:
    return SavedStateStore(folder / "saved.json", parse).load() is not None


async def settle() -> None:
    """Longer than everything that is waited for."""
    await asyncio.sleep(7200.0)


# --- it is given back -----------------------------------------------------------------------------


@on_a_hasty_loop
async def test_a_resume_heats_waits_lowers_and_goes_on(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    await pauses.resume()

    assert platform.done == ["heat"]
    paused = View(trouble=None)
    assert pauses.is_restoring
    assert pauses.shown(paused) is paused  # it shows in a paused print alone
    platform.warms_up()
    await settle()

    assert platform.done == ["heat", "lower 10", "resume"]
    assert not is_saved(tmp_path)
    assert not pauses.is_restoring


@on_a_hasty_loop
async def test_a_print_that_is_resumed_at_the_printer_is_paused_again_for_it(
    tmp_path: Path,
) -> None:
    platform, _ = resting(tmp_path)
    platform.warm = True
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["pause", "heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_a_restart_of_the_agent_in_the_pause_forgets_nothing(tmp_path: Path) -> None:
    resting(tmp_path)
    platform, pauses = begun(tmp_path)
    await pauses.resume()

    assert platform.done == ["heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_a_restart_and_then_a_resume_at_the_printer_gives_it_back(tmp_path: Path) -> None:
    resting(tmp_path)
    platform, _ = begun(tmp_path)
    platform.becomes(PAUSED)
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["pause", "heat", "lower 10", "resume"]


# --- a cancel, a lock, a lost printer -------------------------------------------------------------

Ending = Callable[[FakePlatform, SmartPauses[Saved]], Awaitable[None]]


async def by_cancel(platform: FakePlatform, pauses: SmartPauses[Saved]) -> None:
    await pauses.cancel(platform.cancel)


async def by_cancel_at_the_printer(platform: FakePlatform, pauses: SmartPauses[Saved]) -> None:
    platform.becomes(CANCELLED)


async def by_lock(platform: FakePlatform, pauses: SmartPauses[Saved]) -> None:
    await pauses.end_restore()


async def by_loss(platform: FakePlatform, pauses: SmartPauses[Saved]) -> None:
    platform.becomes(None)


async def by_another_print(platform: FakePlatform, pauses: SmartPauses[Saved]) -> None:
    at = replace(AT, print_id="8")
    platform.becomes(replace(PAUSED, progress=at))


ENDINGS = [by_cancel, by_cancel_at_the_printer, by_lock, by_loss, by_another_print]


@pytest.mark.parametrize("end", ENDINGS)
def test_nothing_more_is_sent_while_it_waits_for_heat(tmp_path: Path, end: Ending) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path)
        await pauses.resume()
        await end(platform, pauses)
        platform.warms_up()
        await settle()

        assert [one for one in platform.done if one != "cancel"] == ["heat"]
        assert not pauses.is_restoring

    body()


@pytest.mark.parametrize("end", ENDINGS)
@pytest.mark.parametrize("stuck", [PAUSING, GOING])
def test_nothing_is_sent_to_a_print_that_never_came_to_rest_again(
    tmp_path: Path, stuck: SeenPrint, end: Ending
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path)
        platform.obeys = False
        platform.becomes(GOING)
        await asyncio.sleep(1.0)
        platform.becomes(stuck)
        assert platform.done == ["pause"]
        await end(platform, pauses)
        platform.becomes(PAUSED if end is by_lock else platform.print)
        platform.warms_up()
        await settle()

        assert [one for one in platform.done if one != "cancel"] == ["pause"]

    body()


@on_a_hasty_loop
async def test_a_pause_that_takes_too_long_is_not_followed_by_a_restore(tmp_path: Path) -> None:
    platform, _ = resting(tmp_path)
    platform.obeys = False
    platform.becomes(GOING)
    await asyncio.sleep(1.0)
    platform.becomes(PAUSING)
    await settle()
    platform.becomes(PAUSED)
    await settle()

    assert platform.done == ["pause"]


@pytest.mark.parametrize("order", ["pause", "heat", "lower 10"])
def test_an_order_under_way_reaches_the_printer_before_the_cancel_and_none_after_it(
    tmp_path: Path, order: str
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = resting(tmp_path)
        platform.warm = True
        platform.takes_s = {order: 1.0}
        platform.becomes(GOING)
        await asyncio.sleep(0.5)
        await pauses.cancel(platform.cancel)
        await settle()

        assert platform.done[-2:] == [order, "cancel"]

    body()


@on_a_hasty_loop
async def test_a_plain_resume_that_waits_for_the_pause_is_ended_by_a_cancel(
    tmp_path: Path,
) -> None:
    platform, pauses = begun(tmp_path)
    platform.print = PAUSING

    async def until_paused() -> None:
        await asyncio.sleep(10.0)

    resuming = asyncio.create_task(pauses.resume(until_paused))
    await asyncio.sleep(1.0)
    await pauses.cancel(platform.cancel)
    await settle()

    assert platform.done == ["cancel"]
    with pytest.raises(PrinterRefused, match="Another order ended"):
        await resuming


@on_a_hasty_loop
async def test_nothing_is_resumed_while_a_cancel_is_under_way(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.takes_s = {"cancel": 5.0}
    cancelling = asyncio.create_task(pauses.cancel(platform.cancel))
    await asyncio.sleep(1.0)
    with pytest.raises(PrinterRefused, match="being cancelled"):
        await pauses.resume()
    await cancelling

    assert platform.done == ["cancel"]


@on_a_hasty_loop
async def test_after_a_cancel_that_was_refused_only_an_order_gives_it_back(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.refusal = {"cancel": failed("No.")}
    with pytest.raises(PrinterRefused):
        await pauses.cancel(platform.cancel)
    platform.warm = True
    await pauses.resume()

    assert platform.done == ["cancel", "heat", "lower 10", "resume"]


@on_a_hasty_loop
async def test_a_print_that_goes_on_after_a_refused_cancel_is_left_alone(tmp_path: Path) -> None:
    platform, pauses = resting(tmp_path)
    platform.refusal = {"cancel": failed("No.")}
    with pytest.raises(PrinterRefused):
        await pauses.cancel(platform.cancel)
    platform.becomes(GOING)
    await settle()

    assert platform.done == ["cancel"]


@on_a_hasty_loop
async def test_a_pause_takes_nothing_once_the_print_was_cancelled(tmp_path: Path) -> None:
    platform, pauses = begun(tmp_path)
    require_paused = await pauses.begin_pause()
    require_paused()
    await pauses.cancel(platform.cancel)
    platform.becomes(PAUSED)
    with pytest.raises(PrinterRefused) as refused:
        require_paused()

    assert refused.value.status == CommandStatus.INVALID_STATE


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
def test_another_print_gets_nothing(tmp_path: Path, other: SeenPrint, repauses: bool) -> None:
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
    tmp_path: Path, other: SeenPrint, repauses: bool, caplog: pytest.LogCaptureFixture
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
    assert "what a smart pause took is not given back" in caplog.text


@pytest.mark.parametrize(
    "other",
    [
        *(replace(one, state=State.PAUSED, is_paused=True) for one in OTHERS),
        replace(PAUSED, progress=replace(AT, position=(5001.0,))),
    ],
)
def test_after_a_restart_a_pause_elsewhere_gets_nothing(tmp_path: Path, other: SeenPrint) -> None:
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

        assert pauses.remember(Saved(path=unknown.path)) is None
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
