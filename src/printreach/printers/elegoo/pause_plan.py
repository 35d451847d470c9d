"""Pauses of an Elegoo printer, for both protocols.

The firmware keeps its heaters on in a pause and has no smart pause, so it is made of the commands
for temperatures and moves. Filament is not retracted: no command for that is known. That the
printer accepts these commands in a pause is a guess; if it refuses, the pause is an ordinary one.
"""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from printreach.contract.commands import Axis, CommandStatus, MoveAxis, Pause, SetTemp
from printreach.contract.status import Feature, State
from printreach.contract.unset import UNSET
from printreach.languages import N_
from printreach.printers.following import LiveView
from printreach.printers.pause_plan import (
    BED,
    HOTEND,
    PAUSED_WITHIN_S,
    Action,
    PausePlan,
)
from printreach.printers.port import PrinterRefused
from printreach.printers.print_progress import (
    PrintProgress,
    PrintReport,
    SavedState,
    StoredShape,
    positions,
)
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

PAUSING = N_("Pausing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The commands of one protocol. print_id: of the print last reported, "" where it has none."""

    print_id: Callable[[], str]
    act: Callable[[Action], Awaitable[object]]
    heat: Callable[[SetTemp], Coroutine[Any, Any, None]]
    move: Callable[[MoveAxis], Coroutine[Any, Any, None]]


class ElegooPausePlan(PausePlan[LiveView]):
    file = "elegoo-smart-pause.json"
    shape = StoredShape(path="file_name", heaters=(HOTEND, BED))
    close_enough_c = 5.0
    pauses_slowly = True

    def __init__(
        self, orders: Orders, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(live_view, limits)
        self._orders = orders

    def reported_print(self) -> PrintReport:
        job = self.live_view.view.job
        current = job.current_print
        return PrintReport(
            state=job.state,
            is_paused=job.state is State.PAUSED and job.sub_state is None,
            path=current.file_name,
            progress=PrintProgress(
                print_id=self._orders.print_id(),
                duration_s=current.duration_sec,
                position=positions(current.progress, current.current_layer),
            ),
        )

    def planned(self, order: Pause) -> SavedState:
        saved = super().planned(order)
        can_move = Feature.AXIS_MOVEMENT in self.live_view.view.features
        return replace(saved, lift_mm=saved.lift_mm if can_move else 0, retract_mm=0)

    async def order(self, action: Action) -> None:
        await self._orders.act(action)

    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:  # noqa: ARG002
        await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=lift_mm))

    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        targets = saved.targets_to_set(on=on)
        tool_c, bed_c = targets.get(HOTEND, UNSET), targets.get(BED, UNSET)
        await self._orders.heat(SetTemp(tool_c=tool_c, bed_c=bed_c))

    async def until_resumable(self) -> None:
        """The printer first finishes its current move, and parks its head."""
        if not await self.wait_until(
            lambda: self.live_view.view.job.sub_state != PAUSING, PAUSED_WITHIN_S
        ):
            raise PrinterRefused(CommandStatus.TIMED_OUT, N_("The printer is still pausing."))
