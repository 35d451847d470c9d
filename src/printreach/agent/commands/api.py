"""The command API: which command a path names, what is checked before it, how it is answered.

Checks come in this order: 754 unknown, 751 arguments, 785 / 787 / 789 printer not
reachable, 788 not supported, 786 wrong state.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec

from printreach.agent.commands import answers
from printreach.agent.commands.controls import ControlCommands
from printreach.agent.commands.files import FileCommands
from printreach.agent.commands.order_gate import OrderGate, within
from printreach.agent.commands.request import CommandContext, CommandRequest
from printreach.agent.commands.webcams import WebcamCommands
from printreach.agent.remote_lock import RestoreGuard
from printreach.contract.commands import (
    COMMAND_ID_FIELD,
    COMMAND_PREFIX,
    CommandStatus,
    Pause,
    StartPrint,
)
from printreach.contract.files import FileRoot
from printreach.contract.materials import MaterialSystem
from printreach.contract.permissions import Permission
from printreach.contract.sizes import cut_to_limits
from printreach.contract.status import NO_FEATURES, Feature, JobStatus, StatusResult
from printreach.contract.temperatures import KEPT_S, PresetList
from printreach.languages import N_, in_english
from printreach.printers.port import Printer, PrinterRefused, SupportsPresets, not_supported
from printreach.rules.connections.permissions import Access
from printreach.rules.printers import commands as rules
from printreach.rules.printers.commands import Action
from printreach.rules.printers.presets import usable_presets
from printreach.rules.printers.virtual_paths import parse_virtual_path
from printreach.rules.prints.materials import within_limits
from printreach.tunnel.served import ServedStream, StreamGone
from printreach.tunnel.stream import Stream
from printreach.wire.events import StreamOpened
from printreach.wire.heads import RequestHead, get

log = logging.getLogger(__name__)

_MAKE_SAFER: Final = frozenset({b"/pause", b"/cancel", b"/emergency-stop"})
"""Orders that make the printer safer: no others under way keep a connection from giving them."""
PLAIN_PAUSE_NOTE = "Remote control is locked: this was a plain pause, not a smart one."

T = TypeVar("T")


Handler = Callable[[CommandRequest], Awaitable[object]]
RawHandler = Callable[[CommandRequest], Awaitable[None]]


class CommandApi:
    """Serves the commands of one printer."""

    def __init__(
        self,
        printer: Printer,
        files: FileCommands,
        webcams: WebcamCommands,
        logs: RawHandler,
        context: CommandContext,
    ) -> None:
        self._printer = printer
        self._webcams = webcams
        self._context = context
        self._limits = context.limits.commands
        self._restores = RestoreGuard(printer, context.remote_lock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._gate = OrderGate(printer)
        controls = ControlCommands(printer, self._gate, self._limits)
        self._orders: dict[bytes, Handler] = {
            b"/pause": self._pause,
            b"/resume": self._resume,
            b"/cancel": self._cancel,
            b"/start": self._start,
            b"/set-light": controls.set_light,
            b"/move-axis": controls.move_axis,
            b"/home": controls.home,
            b"/extrude": controls.extrude,
            b"/set-temp": controls.set_temp,
            b"/adjust": controls.adjust,
            b"/emergency-stop": controls.emergency_stop,
            b"/restart-firmware": controls.restart_firmware,
            b"/files/delete": files.delete,
        }
        self._questions: dict[bytes, Handler] = {
            b"/status": self._status,
            b"/temperatures": self._temperatures,
            b"/presets": self._presets,
            b"/files/list": files.list,
            b"/files/details": files.details,
            b"/webcam/list": webcams.list,
        }
        self._raw: dict[bytes, RawHandler] = {
            b"/files/download": files.download,
            b"/files/thumbnail": files.thumbnail,
            b"/webcam/snapshot": webcams.snapshot,
            b"/webcam/stream": webcams.stream,
            b"/logs/agent": logs,
            b"/proxy/mqtt": self._proxy_mqtt,
        }
        self._upload = files.upload

    def serve(self, stream: Stream, opened: StreamOpened, head: RequestHead) -> None:
        """Answer one request, in a task of its own that ends with its stream."""
        served = ServedStream(stream, opened)
        task = asyncio.create_task(self._serve(served, head))
        served.served_by(task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._restores.close()
        await self._gate.pending.close()

    # --- dispatch ---------------------------------------------------------------------------------

    async def _serve(self, stream: ServedStream, head: RequestHead) -> None:
        stream.invites = get(head.headers, b"expect") is not None
        stream.is_head = head.method == b"HEAD"
        command = head.target.partition(b"?")[0][len(COMMAND_PREFIX) :]
        try:
            try:
                await self._answer(CommandRequest(stream, head, command, self._context))
            except PrinterRefused as refused:  # unknown, or its query could not be read
                await answers.answer_envelope(stream, answers.failure(refused))
        except StreamGone:
            pass  # the caller has disconnected
        except Exception as exc:
            log.exception("a command failed unexpectedly")
            await self._answer_surprise(stream, exc)

    async def _answer(self, request: CommandRequest) -> None:
        command, method, stream = request.command, request.method, request.stream
        if request.access.is_locked:
            await self._restores.end()
        if command in self._orders and method == b"POST":
            handler = self._orders[command]
            body = await self._carry_out(request, handler)
            await answers.answer_envelope(stream, body)
        elif command in self._questions and _asks(command, method):
            body = await _envelope(self._questions[command], request)
            await answers.answer_envelope(stream, body)
        elif command == b"/files/upload" and method == b"PUT":
            request.require_fresh()
            body = await _envelope(self._upload, request)
            await answers.answer_envelope(stream, body)
        elif command in self._raw and method in (b"GET", b"HEAD"):
            await self._answer_raw(request, self._raw[command])
        else:
            raise self._unknown_command(method, command)

    def _unknown_command(self, method: bytes, command: bytes) -> PrinterRefused:
        """Name what there is: the method of a known path, and all commands where none is named."""
        known = {
            **dict.fromkeys(self._orders, b"POST"),
            **dict.fromkeys((*self._questions, *self._raw), b"GET"),
            b"/files/upload": b"PUT",
        }
        shown = (method + b" " + command).decode("latin-1")
        sentence = f"There is no command {shown!r} here."
        if command in (b"", b"/"):
            sentence = "The address names no command."
        if command in known:
            sentence += f" {command.decode()} is asked by {known[command].decode()}."
        elif command in (b"", b"/"):
            names = ", ".join(f"{known[path].decode()} {path.decode()}" for path in known)
            sentence += f" There are {names}."
        return PrinterRefused(CommandStatus.UNKNOWN_COMMAND, sentence)

    async def _carry_out(self, request: CommandRequest, handler: Handler) -> bytes:
        """Carry out an order: refuse a late one, and run a repeated one only once.

        Raises PrinterRefused.
        """
        request.require_fresh()
        command_id = get(request.headers, COMMAND_ID_FIELD.lower())
        if command_id is None:
            return await _envelope(handler, request)
        fingerprint = await request.fingerprint()
        return await self._context.replays.once(
            command_id,
            fingerprint,
            lambda: _envelope(handler, request),
            lambda: request.has_acted,
            counted_as=request.command if request.command in _MAKE_SAFER else b"",
        )

    async def _answer_raw(self, request: CommandRequest, handler: RawHandler) -> None:
        try:
            await handler(request)
        except PrinterRefused as refused:
            if request.stream.has_answered:
                request.stream.break_off(refused.sentence)
            else:
                await answers.answer_raw_failure(request.stream, refused)

    async def _answer_surprise(self, stream: ServedStream, exc: Exception) -> None:
        if stream.has_answered:
            stream.break_off(f"{type(exc).__name__}")
            return
        unknown = PrinterRefused(
            CommandStatus.UNKNOWN_FAILURE,
            N_("The agent failed in a way it does not know; its log tells more."),
        )
        try:
            await answers.answer_envelope(stream, answers.failure(unknown))
        except StreamGone:
            pass  # the caller has disconnected

    # --- status -----------------------------------------------------------------------------------

    async def _status(self, request: CommandRequest) -> object:
        query = await request.status_query()
        view = self._printer.view
        features = self._features_for(request, view.features)
        if view.trouble is not None:
            raise PrinterRefused(view.trouble.status, view.trouble.sentence, features)
        job = view.job
        if query.wants_material_system:
            job = _with_materials(job, view.materials)
        status = StatusResult(
            job_status=job,
            service_status=self._context.service_status(),
            platform_version=view.platform_version,
            features=int(features),
            list_webcams=await self._webcams.listed(request),
        )
        return cut_to_limits(status)

    async def _temperatures(self, request: CommandRequest) -> object:
        """Answer while the printer is offline, too: its last temperatures are known."""
        return self._context.temperatures.history(request.number("SinceSec", KEPT_S))

    async def _presets(self, _request: CommandRequest) -> object:
        """Answer those that may be ordered; none where the printer's software keeps none."""
        self._gate.require_reachable()
        printer = self._printer
        kept = await within(printer.presets()) if isinstance(printer, SupportsPresets) else ()
        return PresetList(presets=usable_presets(kept, self._limits))

    def _features_for(self, request: CommandRequest, features: Feature) -> Feature:
        """Return the features that the caller may use; all of them are orders."""
        access = request.access
        allowed = access.permissions & self._context.limits.allowed
        may_control = Permission.CONTROL in allowed and not access.is_locked
        return features if may_control else NO_FEATURES

    # --- the printer's own broker -----------------------------------------------------------------

    async def _proxy_mqtt(self, request: CommandRequest) -> None:
        self._gate.require_reachable()
        endpoint = self._printer.mqtt
        if endpoint is None:
            raise not_supported(N_("This printer can't be spoken to in MQTT."))
        # Only here: most kinds of printers have no broker, and their agents need no WebSocket.
        from printreach.agent.commands.mqtt_bridge import serve_mqtt

        await serve_mqtt(request, endpoint)

    # --- orders -----------------------------------------------------------------------------------

    async def _pause(self, request: CommandRequest) -> object:
        """While remote control is locked every pause is a plain one, and the result says so."""
        wanted = await request.arguments(Pause)
        problem = rules.pause_problem(_allowed(wanted, request.access), self._limits)
        await self._gate.check(problem, None, Action.PAUSE)
        order = _allowed(wanted, request.access)
        # Before the printer is asked: the pause may show before its answer is here.
        refused = self._context.expect_pause(order)
        try:
            await self._gate.give(request, Action.PAUSE, lambda: self._printer.pause(order))
        except PrinterRefused:
            refused()
            raise
        is_plain = wanted.smart_pause and not order.smart_pause
        return {"Note": PLAIN_PAUSE_NOTE} if is_plain else None

    async def _resume(self, request: CommandRequest) -> None:
        await self._gate.check(None, None, Action.RESUME)
        await self._gate.give(request, Action.RESUME, self._printer.resume)
        self._context.resume_ordered()

    async def _cancel(self, request: CommandRequest) -> object:
        """Cancel. A start under way counts as a print, though the view does not show it yet.

        A lock doesn't stop a cancel that waits for such a start: it makes the printer safer.
        """
        self._gate.require_reachable()
        request.require_current()
        with self._gate.pending.cancelling():
            may_print = await self._gate.pending.settle_for_cancel()
            self._gate.require_reachable()
            if not may_print:
                self._gate.pending.require_state(Action.CANCEL)
            request.note_order()
            cancel = self._printer.cancel
            return await self._gate.pending.carry_out(Action.CANCEL, lambda: within(cancel()))

    async def _start(self, request: CommandRequest) -> object:
        order = await request.arguments(StartPrint)
        path = parse_virtual_path(order.path, (FileRoot.GCODE,))
        problem = in_english("Path: %(problem)s", problem=path) if isinstance(path, str) else None
        await self._gate.check(problem, Feature.PRINT_START, Action.START)
        return await self._gate.give(request, Action.START, lambda: self._printer.start(order))


def _allowed(pause: Pause, access: Access) -> Pause:
    return rules.plain_pause(pause) if access.is_locked else pause


def _asks(command: bytes, method: bytes) -> bool:
    return method in (b"GET", b"HEAD") or (command == b"/status" and method == b"POST")


async def _envelope(handler: Handler, request: CommandRequest) -> bytes:
    try:
        return answers.success(await handler(request))
    except PrinterRefused as refused:
        return answers.failure(refused)


def _with_materials(job: JobStatus, materials: MaterialSystem | None) -> JobStatus:
    cut = within_limits(materials) if materials is not None else None
    return msgspec.structs.replace(job, material_system=cut)
