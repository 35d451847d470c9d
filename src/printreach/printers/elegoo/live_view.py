"""The view of a printer, for both protocols."""

from collections.abc import Awaitable, Callable

from printreach.contract.commands import CommandStatus
from printreach.printers.following import UpdateSignal, keep_following
from printreach.printers.port import PrinterRefused, Trouble, View

PAUSES_S = 20.0
"""The printer first finishes its current move, and parks its head."""
PAUSING = "Pausing"


class LiveView:
    """A printer's view. follow: receives and calls tell(), until it is lost (PrinterRefused).

    print_id: of the print last reported, "" where it has none. on_lost: called then.
    """

    def __init__(
        self, follow: Callable[[], Awaitable[None]], uniform: Callable[[float, float], float]
    ) -> None:
        self._follow = follow
        self._uniform = uniform
        self._updates = UpdateSignal()
        self._view = View()
        self._latest = self._view
        self.print_id = ""
        self.on_lost: Callable[[], None] = lambda: None

    @property
    def view(self) -> View:
        """The view as last reported."""
        return self._view

    def tell(self, view: View, print_id: str) -> None:
        self._view = self._latest = view
        self.print_id = print_id
        self._updates.tell()

    async def wait_until(self, condition: Callable[[View], bool], seconds: float) -> bool:
        """Wait for the printer to say what makes it so; False when it doesn't in time."""
        return await self._updates.wait_until(lambda: condition(self._view), seconds)

    async def until_paused(self) -> None:
        """Wait until the pause is complete: before that a print can't be resumed.

        Raises PrinterRefused.
        """
        if not await self._updates.wait_until(
            lambda: self._view.job.sub_state != PAUSING, PAUSES_S
        ):
            raise PrinterRefused(CommandStatus.TIMED_OUT, "The printer is still pausing.")

    async def run(self) -> None:
        """Follow until cancelled."""
        await keep_following(self._follow, self._on_lost, lambda: self._latest, self._uniform)

    def _on_lost(self, refused: PrinterRefused) -> None:
        status = CommandStatus(refused.status)
        self._view = View(trouble=Trouble(status=status, sentence=refused.sentence))
        self.on_lost()
