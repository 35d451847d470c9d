"""The live view of a Klipper printer, over a connection to Moonraker.

The connection's reader handles notifications; one task queries the rest: when Klipper comes and
goes, when another file is printed, when a spool is changed.
"""

import asyncio
from dataclasses import replace

from printreach.contract.commands import CommandStatus
from printreach.contract.status import NO_FEATURES, Feature
from printreach.languages import in_english
from printreach.printers import following, loose
from printreach.printers.connecting import unreachable
from printreach.printers.port import PrinterRefused, Trouble, View
from printreach.printers.setup import PrinterSetup
from printreach.printers.websocket import WebSocketFailed, websocket

from . import queries
from .api import MoonrakerApi, Rpc
from .cameras import CameraFinder
from .entries import NOTHING_KNOWN
from .machine import machine_of, subscription, with_power_change
from .status import KnownState, is_under_way, print_path, steps_to, with_changes
from .translate import NO_PROMPT, READY, trouble_of, view_of, with_line

LOOK_AGAIN_S = 2.0
"""Seconds between polls while Klipper isn't ready; Moonraker pushes most changes."""
FILE_KNOWN_WITHIN_S = 1.0
"""Seconds that a print of another file waits for its metadata before it is shown."""
NO_ROOM = frozenset({429, 500, 503})
"""Statuses with which a Moonraker that is up refuses more WebSockets. 0.11.0: 500."""

_GONE = {"notify_klippy_shutdown": "shutdown", "notify_klippy_disconnected": "disconnected"}


class LiveView(following.LiveView):
    """The live view of one Klipper. known: all reports, those of earlier connections included."""

    def __init__(self, setup: PrinterSetup, api: MoonrakerApi, cameras: CameraFinder) -> None:
        super().__init__(setup.uniform)
        self.known = KnownState()
        self._api = api
        self._cameras = cameras
        self._printer_id = setup.printer_id
        self._begin()

    def _begin(self) -> None:
        """Forget what holds for one connection alone."""
        self._version = ""
        self._has_spoolman = False
        self._is_ready = False
        self._prompt = NO_PROMPT
        self._missed: list[object] | None = None  # while the subscription is under way
        self._asked_path: str | None = None
        self._new_file_at: float | None = None
        self._hidden_start: KnownState | None = None  # not shown yet, as its file wasn't known
        self._has_file_changed = False
        self._is_spool_known = False
        self._are_cameras_known = False
        self._check_requested = asyncio.Event()

    async def _follow(self) -> None:
        self._begin()
        info = await self._api.query("/server/info")
        if loose.obj(info) == loose.EMPTY:
            sentence = in_english(
                "%(where)s doesn't answer as Moonraker does.", where=self._api.where
            )
            raise PrinterRefused(CommandStatus.NOT_CONNECTED, sentence)
        try:
            opening = websocket(self._api.connect, self._api.push_url, self._api.headers)
            async with opening as socket:
                await self._run_rpc(Rpc(socket, self._on_notification))
        except WebSocketFailed as ended:
            raise self._refusal_for(ended) from ended

    def redraw(self) -> None:
        """Show what is known; only while Klipper is ready."""
        if not self._is_ready:
            return
        if self._waits_for_file():
            if self._hidden_start is None and is_under_way(self.known):
                self._hidden_start = self.known
            return
        start = self._hidden_start
        self._hidden_start = None
        if start is not None and not is_under_way(self.known):
            self._draw(start)  # the print was over before its file was known
        self._draw(self.known)

    def _draw(self, known: KnownState) -> None:
        self._show(view_of(known, self._version, self._prompt))

    async def refresh(self) -> None:
        """Query the print after an order, instead of waiting until Klipper reports the change."""
        wanted = dict.fromkeys(("print_stats", "virtual_sdcard"))
        try:
            answer = await self._api.call("printer.objects.query", {"objects": wanted})
        except PrinterRefused:
            return  # Klipper reports it in a moment
        self._on_status(_status_of(answer))
        try:
            async with asyncio.timeout(FILE_KNOWN_WITHIN_S):
                await self._ask_metadata()
        except (TimeoutError, PrinterRefused):
            self.redraw()  # what is known of its file comes later

    # --- notifications ------------------------------------------------------------------------

    def _on_notification(self, method: str, params: object) -> None:
        match method:
            case "notify_status_update":
                self._on_status(params)
            case "notify_gcode_response":
                self._on_line(params)
            case "notify_power_changed":
                self.known = replace(self.known, power=with_power_change(self.known.power, params))
                self.redraw()
            case "notify_klippy_ready":
                self._is_ready = False  # its subscriptions are gone
                self._request_check()
            case "notify_klippy_shutdown" | "notify_klippy_disconnected":
                self._lose_klipper(_GONE[method])
            case "notify_active_spool_set":
                self._is_spool_known = False
                self._request_check()
            case "notify_webcams_changed":
                self._are_cameras_known = False
                self._request_check()
            case "notify_metadata_update" | "notify_filelist_changed":
                if self.known.metadata == NOTHING_KNOWN or self._is_of_the_print(params):
                    self._has_file_changed = True
                    self._request_check()

    def _on_line(self, params: object) -> None:
        line = params[0] if isinstance(params, list) and params else None
        prompt = with_line(self._prompt, line) if isinstance(line, str) else self._prompt
        if prompt != self._prompt:
            self._prompt = prompt
            self.redraw()

    def _on_status(self, params: object) -> None:
        if self._missed is not None:
            self._missed.append(params)
        changes, clock_s = _changes_of(params)
        if not self._is_ready:
            return
        state = loose.text(loose.obj(changes, "webhooks"), "state")
        if state is not None and state != READY:
            self._lose_klipper(state)
            return
        for known in steps_to(self.known, changes, clock_s):
            self.known = known
            if print_path(known) != self._asked_path:
                self._request_check()
            self.redraw()

    def _is_of_the_print(self, params: object) -> bool:
        """Return whether a notification is of the printed file, which may have been replaced."""
        changes = params[0] if isinstance(params, list) and params else None
        item = loose.obj(changes, "item")
        named = loose.text(item, "path") or loose.text(changes, "filename")
        return named is not None and named == print_path(self.known)

    def _lose_klipper(self, state: str) -> None:
        self._is_ready = False
        self._hidden_start = None
        self._prompt = NO_PROMPT
        # Its reason is asked for next; until that is known, this is not shown as a fault.
        self._show_trouble(replace(trouble_of(state, None, self._api.address), is_fault=False))
        self._request_check()

    def _waits_for_file(self) -> bool:
        """Return whether the metadata of another file, which is printed now, is being asked for."""
        if print_path(self.known) == self._asked_path:
            return False
        now = asyncio.get_running_loop().time()
        if self._new_file_at is None:
            self._new_file_at = now
        return now - self._new_file_at < FILE_KNOWN_WITHIN_S

    def _request_check(self) -> None:
        self._check_requested.set()

    # --- queries ------------------------------------------------------------------------------

    async def _run_rpc(self, rpc: Rpc) -> None:
        reading = asyncio.create_task(rpc.run())
        self._api.rpc = rpc
        tending = asyncio.create_task(self._maintain())
        try:
            await asyncio.wait({reading, tending}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            tending.result()
        finally:
            self._api.rpc = None
            self._is_ready = False
            for task in (reading, tending):
                task.cancel()
            await asyncio.gather(reading, tending, return_exceptions=True)

    async def _maintain(self) -> None:
        await queries.identify(self._api)
        await queries.publish_id(self._api, self._printer_id)
        while True:
            self._check_requested.clear()
            if not self._is_ready:
                await self._look_for_klipper()
            if not self._are_cameras_known:
                self._are_cameras_known = True
                await self._cameras.look()
            if self._is_ready:
                await self._ask_metadata()
                await self._ask_spool()
            try:
                async with asyncio.timeout(None if self._is_ready else LOOK_AGAIN_S):
                    await self._check_requested.wait()
            except TimeoutError:
                pass  # Klipper may be ready by now

    async def _look_for_klipper(self) -> None:
        try:
            await self._look_at_klipper()
        except PrinterRefused as refused:
            if refused.status == CommandStatus.NOT_AUTHORIZED:
                raise
            status = CommandStatus.NOT_CONNECTED  # it went away again
            self._show_trouble(
                Trouble(status=status, sentence=refused.sentence, has_lost_firmware=True)
            )

    async def _look_at_klipper(self) -> None:
        info = await self._api.call("server.info")
        version = loose.text(info, "moonraker_version") or ""
        self._version = f"Moonraker {version}".rstrip()
        self._has_spoolman = "spoolman" in loose.items(info, "components")
        state = loose.text(info, "klippy_state") or "disconnected"
        if state == READY:
            await self._set_up()
        else:
            words = await queries.klipper_message(self._api)
            self._show_trouble(trouble_of(state, words, self._api.address))

    async def _set_up(self) -> None:
        """Read what a Klipper that is ready has, and subscribe to it."""
        names = loose.items(await self._api.call("printer.objects.list"), "objects")
        machine = machine_of(names)
        fresh = KnownState(
            machine=machine,
            settings=await queries.settings(self._api),
            power=await queries.switched_lights(self._api),
            spool=self.known.spool,
            latest=self.known.latest,
        )
        self._missed = []
        try:
            wanted = {"objects": subscription(machine)}
            answer = await self._api.call("printer.objects.subscribe", wanted)
            for params in (_status_of(answer), *self._missed):
                fresh = with_changes(fresh, *_changes_of(params))
        finally:
            self._missed = None
        self.known = fresh
        self._asked_path, self._is_spool_known = None, False
        self._is_ready = True
        await self._ask_metadata()
        self.redraw()

    async def _ask_metadata(self) -> None:
        while (path := print_path(self.known)) != self._asked_path or self._has_file_changed:
            self._has_file_changed = False
            metadata = await queries.metadata(self._api, path)
            if path != print_path(self.known):
                continue  # another file in between
            self._asked_path, self._new_file_at = path, None
            self.known = with_changes(replace(self.known, metadata=metadata), loose.EMPTY)
            self.redraw()

    async def _ask_spool(self) -> None:
        if self._is_spool_known or not self._has_spoolman:
            return
        self._is_spool_known = True
        spool = await queries.spool_in_use(self._api)
        self.known = replace(self.known, spool=spool)
        self.redraw()

    def _show_trouble(self, trouble: Trouble) -> None:
        """Say why Klipper can't be reached, as Moonraker tells it."""
        features = Feature.FIRMWARE_RESTART if trouble.is_fault else NO_FEATURES
        self._view = View(trouble=trouble, features=features, platform_version=self._version)
        self._report_change()

    def _refusal_for(self, ended: WebSocketFailed) -> PrinterRefused:
        """Explain why there is no WebSocket, although a plain request was answered just before."""
        if ended.status in (401, 403):
            return PrinterRefused(CommandStatus.NOT_AUTHORIZED, self._api.denied)
        if ended.status in NO_ROOM:
            return PrinterRefused(
                CommandStatus.TOO_MANY_CLIENTS,
                in_english("%(where)s takes no more connections.", where=self._api.where),
            )
        return unreachable(self._api.where, ended.text)


def _status_of(answer: object) -> list[object]:
    """Return an answer's status in the shape in which Moonraker pushes it."""
    reported = loose.obj(answer)
    return [reported.get("status"), reported.get("eventtime")]


def _changes_of(params: object) -> tuple[object, float | None]:
    """Return what has changed, and the time of Klipper's clock."""
    reported = params if isinstance(params, list) else []
    return reported[0] if reported else None, loose.as_number(reported[1]) if len(
        reported
    ) > 1 else None
