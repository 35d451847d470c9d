"""Keeps one agent running with the present configuration, in a thread with its own event loop.

systemd would restart a program of its own; inside another program the supervisor does it. The
thread never waits for OctoPrint's own threads and loop, and never delays them.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from printreach.agent.builtin import CannotStart
from printreach.agent.config import AgentConfig
from printreach.agent.data_dir import DataDirRefused
from printreach.agent.keys import KEY_FILE, PINS_FILE
from printreach.agent.runtime import AgentContext, Machine, Uplink, UplinkFactory, run_agent
from printreach.agent.state import Snapshot

RETRY_S: Final = 30.0
"""Seconds to wait after a failure; the agent itself handles those of the network."""

_SURPRISE: Final = "The agent failed in a way it does not know; OctoPrint's log tells more."

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentStatus:
    """The agent's snapshot, or a sentence that says why there is no agent."""

    snapshot: Snapshot | None = None
    trouble: str | None = None


class Supervisor:
    """Supervises one agent.

    Any thread may read `status`; the rest belongs to the event loop's thread.

    retry_s: how long to wait after a failure.
    """

    def __init__(
        self, machine: Machine, make_uplink: UplinkFactory, *, retry_s: float = RETRY_S
    ) -> None:
        self.status = AgentStatus()
        self._machine = machine
        self._make_uplink = make_uplink
        self._retry_s = retry_s
        self._config: AgentConfig | None = None
        self._changed = asyncio.Event()
        self._is_stopping = False
        self._folder_to_clear: Path | None = None

    def use(self, config: AgentConfig | None) -> None:
        """Run an agent like this from now on, or none."""
        if config != self._config:
            self._config = config
            self._changed.set()

    def forget_link(self) -> None:
        """Begin again as a new agent, which no account knows."""
        if self._config is not None:
            self._folder_to_clear = self._config.data_dir
            self._changed.set()

    def stop(self) -> None:
        self._is_stopping = True
        self._changed.set()

    async def run(self) -> None:
        """Run until stop() is called."""
        while not self._is_stopping:
            self._changed.clear()
            try:
                await self._run_until_changed()
            except (CannotStart, DataDirRefused) as refused:
                log.error("%s", refused)
                await self._rest(str(refused))
            except Exception:
                log.exception("The agent failed")
                await self._rest(_SURPRISE)

    async def _run_until_changed(self) -> None:
        """Run one agent, from its start to its end. Raises what ended it."""
        if self._folder_to_clear is not None:
            _clear(self._folder_to_clear)
            self._folder_to_clear = None
        if self._config is None:
            self.status = AgentStatus()
            await self._changed.wait()
            return
        await run_agent(
            self._config, machine=self._machine, make_uplink=self._observed, stop=self._changed
        )
        if not self._changed.is_set():
            raise RuntimeError("an uplink ended though nobody stopped it")

    def _observed(self, context: AgentContext) -> Uplink:
        context.state.observe(self._tell)
        return self._make_uplink(context)

    def _tell(self, snapshot: Snapshot) -> None:
        self.status = AgentStatus(snapshot=snapshot)

    async def _rest(self, trouble: str) -> None:
        self.status = AgentStatus(trouble=trouble)
        try:
            async with asyncio.timeout(self._retry_s):
                await self._changed.wait()
        except TimeoutError:
            pass  # time for the next try


def _clear(folder: Path) -> None:
    """Remove the agent's key, and with it the link to its service. Raises DataDirRefused."""
    try:
        for name in (KEY_FILE, PINS_FILE):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise DataDirRefused(
            f"The link in {folder} cannot be removed: {error.strerror}."
        ) from error


NAME: Final = "printreach-agent"
LEAVE_WITHIN_S: Final = 1.5
"""Seconds that OctoPrint's shutdown waits for the agent to sign off."""
CUT_OFF_WITHIN_S: Final = 0.5


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
            log.warning("The agent did not stop in time and was abandoned")

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
            log.warning("The agent did not disconnect in time and was cut off")
        except Exception:
            log.exception("The agent's thread failed")
        else:
            log.info("The agent has ended")

    async def _supervise(self) -> None:
        self._supervising = asyncio.current_task()
        await self._supervisor.run()
