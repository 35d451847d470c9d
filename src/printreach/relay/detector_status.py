"""Sending the state of failure detection to an agent, for its current print."""

import asyncio
import logging
from collections.abc import Callable

from printreach.contract import signin
from printreach.ports import Clock
from printreach.ports.relaying import DetectorStates
from printreach.rules.detection.detector import aged

log = logging.getLogger(__name__)


class DetectorStatusSender:
    """Sends the latest state to one agent. send: sends it a control message.

    No task runs while nothing is new. A failed look-up is not retried: the next state replaces it.
    """

    __slots__ = ("_clock", "_has_news", "_printer_id", "_send", "_states", "_telling")

    def __init__(
        self,
        states: DetectorStates,
        clock: Clock,
        printer_id: str,
        send: Callable[[signin.FromService], None],
    ) -> None:
        self._states = states
        self._clock = clock
        self._printer_id = printer_id
        self._send = send
        self._has_news = False
        self._telling: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Send the latest state, because it may have changed."""
        self._has_news = True
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()

    async def _tell(self) -> None:
        # One look-up after another: an older state must not overtake a newer one.
        while self._has_news:
            self._has_news = False
            try:
                state = await self._states.latest(self._printer_id)
            except Exception:
                log.exception("could not look up what the detector says")
                return
            if state is not None:
                age_s = (self._clock.now() - state.at).total_seconds()
                status = aged(state.status, age_s)
                self._send(signin.Detector(print_id=state.print_id, status=status))
