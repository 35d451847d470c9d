"""The live view of a Bambu Lab printer: its reports, and polling where they are incomplete."""

import asyncio
import logging
from collections.abc import Callable

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State, Temps
from printreach.languages import in_english
from printreach.printers import following
from printreach.printers.loose import Json
from printreach.printers.port import PrinterRefused, View
from printreach.printers.setup import PrinterSetup

from .api import BambuApi
from .known_state import KnownState, model_of, with_message
from .orders import GET_VERSION, PUSH_ALL
from .project import NOTHING, SlicerFacts
from .states import state_of
from .stopwatch import ClockFile, Stopwatch, job_of, observe
from .translate import view_of

log = logging.getLogger(__name__)

PUSH_ALL_EVERY_S = 300.0
"""P1 and A1 printers are slowed down by more."""
ASK_AGAIN_S = 2.0
SILENCE_S = 8.0
FRESH_S = 0.5
"""Seconds between two views at least: their counters run on between two messages."""


class LiveView(following.LiveView):
    """The live view of one printer. sliced: what the slicer said of the print in a report."""

    def __init__(self, setup: PrinterSetup, api: BambuApi) -> None:
        super().__init__(setup.uniform)
        self.known = KnownState()
        self.sliced: Callable[[Json], SlicerFacts] = lambda _report: NOTHING
        self._setup = setup
        self._api = api
        self._stopwatch: Stopwatch | None = None
        self._clock_file = ClockFile(setup.data_dir)
        self._view_at = 0.0
        self._asked_at: float | None = None

    @property
    def view(self) -> View:
        if self._view.trouble is None and self._setup.steady_time() - self._view_at >= FRESH_S:
            self._view = self._drawn()
        return self._view

    @property
    def state(self) -> State:
        """As the printer says."""
        return state_of(self.known.report)

    @property
    def temps(self) -> Temps:
        return self.view.job.current_print.temps

    @property
    def job(self) -> str:
        return job_of(self.known.report)

    async def _follow(self) -> None:
        async with self._api.connected() as messages:
            if not self.known.is_enough:
                sentence = in_english(
                    "The printer at %(where)s has not told its state yet.", where=self._api.where
                )
                self._on_lost(PrinterRefused(CommandStatus.NOT_CONNECTED, sentence))
            async with following.beside(self._ask()):
                async for message in messages:
                    self._on_message(message)

    async def _ask(self) -> None:
        """Ask what the printer is and for its whole state; again where it reports only changes."""
        try:
            await self._ask_until_answered()
            if model_of(self.known.modules).tells_all:
                self._asked_at = None
            while True:
                await asyncio.sleep(self._due_in_s())
                self._asked_at = self._setup.steady_time()
                await self._api.send(PUSH_ALL)
                await self._api.send(GET_VERSION)  # its AMS units come and go
                if not self.known.is_enough:
                    await self._check_serial_number()
        except PrinterRefused as refused:
            log.info("the printer could not be asked: %s", refused.sentence)

    async def _check_serial_number(self) -> None:
        """Check the serial number of a printer that does not answer: it may be wrong."""
        if await self.wait_until(lambda: self.known.is_enough, SILENCE_S):
            return
        refused = await self._api.other_serial()
        if refused is not None:
            self._on_lost(refused)

    async def _ask_until_answered(self) -> None:
        """Messages may be lost while the printer starts."""
        await self._api.send(GET_VERSION)
        while self.known.is_enough and self.view.trouble is not None:
            await asyncio.sleep(ASK_AGAIN_S)
            await self._api.send(GET_VERSION)

    def _due_in_s(self) -> float:
        if self._asked_at is None:
            return 0.0
        return max(0.0, self._asked_at + PUSH_ALL_EVERY_S - self._setup.steady_time())

    def _on_message(self, message: object) -> None:
        known = with_message(self.known, message)
        if known is self.known and self.view.trouble is None:
            return  # an answer to an order
        if self.known.is_enough and not known.is_enough:
            return  # nonsense; the state it would hide is not told again for minutes
        self.known = known
        if not known.is_enough:
            return
        now, unix_s = self._setup.steady_time(), self._setup.unix_time()
        if self._stopwatch is None:
            self._stopwatch = self._clock_file.load(known.report, unix_s)
        self._stopwatch = observe(self._stopwatch, known.report, self.state, now)
        self._clock_file.save(self._stopwatch, now, unix_s)
        self._show(self._drawn())

    def _drawn(self) -> View:
        """Make the view as it is now."""
        self._view_at = now = self._setup.steady_time()
        stopwatch = self._stopwatch or Stopwatch()
        return view_of(self.known, stopwatch, now, self.sliced(self.known.report))
