"""A thread with an event loop of its own, in which the supervised agent runs.

It never waits for OctoPrint's own threads and loop, and never delays them.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Final

from printreach.agent.config import AgentConfig
from printreach.agent.octoprint_plugin.supervisor import AgentStatus, Supervisor

NAME: Final = "printreach-agent"
LEAVE_WITHIN_S: Final = 1.5
"""Seconds that OctoPrint's shutdown waits for the agent to sign off."""
CUT_OFF_WITHIN_S: Final = 0.5

log = logging.getLogger(__name__)


class AgentThread:
    """Runs the agent. Any thread may call its methods; none raises, and only close() waits.

    leave_within_s, cut_off_within_s: how long close() waits for the agent to sign off, and then for
    the cancelled thread.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        *,
        leave_within_s: float = LEAVE_WITHIN_S,
        cut_off_within_s: float = CUT_OFF_WITHIN_S,
    ) -> None:
        self._supervisor = supervisor
        self._leave_within_s = leave_within_s
        self._cut_off_within_s = cut_off_within_s
        self._loop = asyncio.new_event_loop()
        self._supervising: asyncio.Task[None] | None = None
        # A daemon: whatever the agent does, it cannot keep OctoPrint's process from ending.
        self._thread = threading.Thread(target=self._main, name=NAME, daemon=True)

    @property
    def status(self) -> AgentStatus:
        """The agent's present status."""
        return self._supervisor.status

    def start(self) -> None:
        """Once in its life."""
        self._thread.start()

    def use(self, config: AgentConfig | None) -> None:
        """Run an agent like this from now on, or none."""
        self._call(lambda: self._supervisor.use(config))

    def forget_link(self) -> None:
        """Begin again as a new agent, which no account knows."""
        self._call(self._supervisor.forget_link)

    def close(self) -> None:
        """End the agent and the thread; returns soon, whether they have ended or not."""
        if self._thread.ident is None:
            self._loop.close()
            return
        self._call(self._supervisor.stop)
        self._thread.join(self._leave_within_s)
        if self._thread.is_alive():
            self._call(self._cut_off)
            self._thread.join(self._cut_off_within_s)
        if self._thread.is_alive():
            log.warning("The agent did not end in time and is left behind")

    def _call(self, work: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:
            pass  # the loop is closed: the agent has ended for good

    def _cut_off(self) -> None:
        if self._supervising is not None:
            self._supervising.cancel()

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._supervise())
        except asyncio.CancelledError:
            log.warning("The agent did not take its leave in time and was cut off")
        except Exception:
            log.exception("The agent's thread failed")
        else:
            log.info("The agent has ended")

    async def _supervise(self) -> None:
        self._supervising = asyncio.current_task()
        await self._supervisor.run()
