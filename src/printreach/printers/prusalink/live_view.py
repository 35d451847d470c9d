"""The live view of PrusaLink, which has to be polled: it pushes nothing."""

import asyncio
from collections.abc import Callable

from printreach.contract.commands import CommandStatus
from printreach.languages import N_
from printreach.printers import following, loose
from printreach.printers.connecting import unreachable
from printreach.printers.loose import EMPTY, Json
from printreach.printers.port import PrinterRefused

from .api import PrusaLinkApi
from .translate import (
    KnownState,
    Machine,
    is_introduction,
    is_status,
    machine_of,
    view_of,
    wants_job,
    with_status,
)

POLL_EVERY_S = 0.8
ANSWER_S = 6.0
"""A Raspberry Pi Zero is slow, but not so slow."""
JOB_AGAIN_S = 10.0
_ANSWERED = frozenset({CommandStatus.EXECUTION_FAILED, CommandStatus.NOT_FOUND})


class LiveView(following.LiveView):
    """The live view of one PrusaLink."""

    def __init__(
        self,
        api: PrusaLinkApi,
        uniform: Callable[[float, float], float],
        steady_time: Callable[[], float],
    ) -> None:
        super().__init__(uniform)
        self.known = KnownState()
        self.machine = Machine()
        self._api = api
        self._steady_time = steady_time
        self._job_again_at = 0.0

    async def _follow(self) -> None:
        self.machine = await self._learn()
        while True:
            await self._poll()
            await asyncio.sleep(POLL_EVERY_S)

    async def _learn(self) -> Machine:
        version = await self._ask("/api/version")
        storages = await self._ask("/api/v1/storage")
        if not is_introduction(version, storages):
            raise unreachable(self._api.where, N_("it answered with something else than who it is"))
        return machine_of(version, await self._ask("/api/v1/info"), storages)

    async def _poll(self) -> None:
        status = await self._ask("/api/v1/status")
        if not is_status(status):
            raise unreachable(
                self._api.where, N_("it answered with something else than its status")
            )
        status, job = loose.obj(status), EMPTY
        if wants_job(self.known, status):
            job = await self._ask_job()
        self.known = with_status(self.known, status, job, self._steady_time())
        self._show(view_of(self.known, self.machine, self._api.where))

    async def _ask_job(self) -> Json:
        """Some names of files make 0.8.1 fail at this; their prints go on without."""
        if self._steady_time() < self._job_again_at:
            return EMPTY
        try:
            return loose.obj(await self._ask("/api/v1/job"))
        except PrinterRefused as refused:
            if refused.status not in _ANSWERED:
                raise
            self._job_again_at = self._steady_time() + JOB_AGAIN_S
            return EMPTY

    async def _ask(self, target: str) -> object:
        return await self._api.get_soon(target, ANSWER_S)
