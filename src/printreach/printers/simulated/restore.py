"""The effect of a lock of remote control on the restore that the simulated printer makes."""

import logging

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers.port import PrinterRefused

from .api import Api

log = logging.getLogger(__name__)


class PrinterRestore:
    """printers.port.Restores. Ends the restore of a resume that was ordered remotely.

    The printer then stays paused, with its heaters as they are. It can't wait, so what is to be
    held is ended, too. A resume that was ordered at the printer itself is left alone; one that the
    agent finds when it starts may be a remote one.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._may_be_remote = True
        self._is_held = False

    async def resume(self) -> None:
        try:
            await self._api.order("print", Action="resume")
        finally:
            self._may_be_remote = True

    async def on_state(self, state: State) -> None:
        """The printer has told its state."""
        if state not in {State.PAUSED, State.RESUMING}:
            self._may_be_remote = False
        if state is State.RESUMING and self._is_held:
            await self.lock()

    async def lock(self) -> None:
        if not self._may_be_remote:
            return
        self._may_be_remote = False
        try:
            await self._api.order("print", Action="end-restore")
        except PrinterRefused as refused:
            if refused.status != CommandStatus.EXECUTION_FAILED:  # else nothing is being restored
                self._may_be_remote = True
                log.warning("the printer's restore could not be ended: %s", refused.sentence)
        else:
            log.warning("remote control was locked, or may be: the print stays paused")

    def hold(self, *, is_held: bool) -> None:
        self._is_held = is_held
