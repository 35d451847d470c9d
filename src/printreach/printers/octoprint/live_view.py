"""The live view of OctoPrint: over its push channel, or by polling where there is none."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from printreach.contract.commands import CommandStatus
from printreach.contract.status import NO_FEATURES
from printreach.languages import N_
from printreach.printers import following, loose
from printreach.printers.connecting import unreachable
from printreach.printers.loose import Json
from printreach.printers.port import PrinterRefused
from printreach.printers.websocket import WebSocket, WebSocketFailed, websocket

from .api import Login, OctoPrintApi
from .profile import Profile, profile_of
from .translate import (
    EVENTS,
    KnownState,
    features_of,
    has_hidden_end,
    view_of,
    with_current,
    with_end,
    with_event,
)

log = logging.getLogger(__name__)

POLL_EVERY_S = 0.8
POLL_FOR_S = 60.0
"""Then the push channel is tried again."""
PROFILE_S = 3.0
SILENCE_S = 6.0
PROFILE_EVENTS = ("Connected", "PrinterProfileModified")
_SUBSCRIPTION = {
    "subscribe": {
        "state": {"logs": False, "messages": False},
        "events": sorted({*EVENTS, *PROFILE_EVENTS}),
        "plugins": False,
    }
}
"""Without the terminal's log, which is most of what OctoPrint sends while it prints."""


class LiveView(following.LiveView):
    """The live view of one OctoPrint. on_start: awaited each time OctoPrint was reached."""

    def __init__(
        self,
        api: OctoPrintApi,
        uniform: Callable[[float, float], float],
        on_start: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(uniform)
        self.known = KnownState()
        self.profile = Profile()
        self._api = api
        self._on_start = on_start
        self._version = ""
        self._features = NO_FEATURES
        self._was_out_of_reach = False  # since it was last asked: it may have been restarted

    async def _follow(self) -> None:
        login = await self._learn()
        if login is not None:
            await self._follow_push(login)
        await self._poll()

    async def _learn(self) -> Login | None:
        self._version = loose.text(await self._api.get("/api/version"), "server") or ""
        login = await self._api.login()
        self._features = features_of(login.roles if login is not None else frozenset())
        await self._learn_profile()
        await self._on_start()
        return login

    async def _learn_profile(self) -> None:
        """Without it, a printer is taken to be as most are."""
        try:
            async with asyncio.timeout(PROFILE_S):
                self.profile = profile_of(await self._api.get("/api/printerprofiles"))
        except (PrinterRefused, TimeoutError) as exc:
            log.info("the printer's profile could not be read: %s", exc)

    async def _follow_push(self, login: Login) -> None:
        """Returns where there is no push channel, and not otherwise."""
        has_message = False
        try:
            async with websocket(self._api.connect, self._api.push_url) as socket:
                async for kind, content in self._messages(socket, login):
                    await self._on_message(kind, content)
                    has_message = True
        except WebSocketFailed as exc:
            if has_message:
                raise unreachable(self._api.where, exc.text) from exc
            log.info("OctoPrint has no push channel and is asked instead: %s", exc.text)

    async def _messages(self, socket: WebSocket, login: Login) -> AsyncIterator[tuple[str, Json]]:
        """Yield what comes, as kinds and objects. Raises WebSocketFailed, PrinterRefused."""
        await socket.send(json.dumps(_SUBSCRIPTION))
        await socket.send(json.dumps({"auth": login.auth}))
        while True:
            message = loose.parsed(await socket.receive(SILENCE_S))
            for kind, content in loose.obj(message).items():
                if kind != "reauthRequired":
                    yield kind, loose.obj(content)
                    continue
                fresh_login = await self._api.login()
                if fresh_login is None:
                    raise WebSocketFailed(N_("OctoPrint ended its session"))
                await socket.send(json.dumps({"auth": fresh_login.auth}))

    async def _on_message(self, kind: str, content: Json) -> None:
        if kind in ("current", "history"):
            self.known = with_current(self.known, content)
        elif kind == "event":
            event = loose.text(content, "type") or ""
            if event == "PrintStarted" and has_hidden_end(self.known):
                self.known = with_end(self.known)
                self._tell()
            self.known = with_event(self.known, event, loose.obj(content, "payload"))
            if event in PROFILE_EVENTS:
                await self._learn_profile()
        else:
            return
        self._tell()

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + POLL_FOR_S
        while loop.time() < end:
            job = loose.obj(await self._api.get("/api/job"))
            current = as_current(job, await self._ask_printer())
            self.known = with_current(
                self.known, current, assume_cancelled=not self._was_out_of_reach
            )
            self._was_out_of_reach = False
            self._tell()
            await asyncio.sleep(POLL_EVERY_S)

    async def _ask_printer(self) -> Json | None:
        """Poll the printer.

        None while it isn't connected, which OctoPrint answers with a refusal.
        """
        try:
            return loose.obj(await self._api.get("/api/printer"))
        except PrinterRefused as refused:
            if refused.status != CommandStatus.EXECUTION_FAILED:
                raise
            return None

    def _tell(self) -> None:
        """Show what is known, once OctoPrint has told its state."""
        if self.known.now:
            where = self._api.where
            self._show(view_of(self.known, self.profile, self._version, self._features, where))

    def _on_lost(self, refused: PrinterRefused) -> None:
        self._was_out_of_reach = True
        super()._on_lost(refused)


def as_current(job: Json, printer: Json | None) -> Json:
    """Return polled answers in the shape in which OctoPrint pushes them."""
    state = dict(loose.obj(printer, "state"))
    if printer is None:
        state = {"text": job.get("state"), "flags": {"closedOrError": True}}
    return {
        "state": {**state, "error": job.get("error")},
        "job": job.get("job"),
        "progress": job.get("progress"),
        "temps": [loose.obj(printer, "temperature")],
    }
