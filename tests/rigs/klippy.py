"""A simulated Klippy: Klipper's API on a unix socket, as Moonraker uses it.

JSON messages, each ended by a byte 0x03. It runs in a thread with an event loop of its own, so that
one Moonraker can serve many tests; what tests do to it they hand over with do().
"""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.rigs.klipper_gcode import GcodeRefused
from tests.rigs.klipper_machine import KlipperMachine
from tests.rigs.klipper_objects import Status

T = TypeVar("T")

END = b"\x03"
PUSH_S = 0.25
TICK_S = 0.05
DO_S = 60.0
MAX_REQUEST_BYTES = 1 << 20
VERSION = "v0.13.0-simulated"
_SCRIPTS = {
    "pause_resume/pause": "PAUSE",
    "pause_resume/resume": "RESUME",
    "pause_resume/cancel": "CANCEL_PRINT",
}
_RESTARTS = ("RESTART", "FIRMWARE_RESTART")
_EMERGENCY = "Shutdown due to webhooks request"
_SHUT_DOWN_WORDS = (
    "{}\nOnce the underlying issue is corrected, use the\n"
    '"FIRMWARE_RESTART" command to reset the firmware, reload the\n'
    "config, and restart the host software.\nPrinter is shutdown"
)


class Klippy:
    """folder: Moonraker's data folder, where the socket is too. extra: further printer objects."""

    def __init__(self, folder: Path, extra: Status | None = None) -> None:
        self._folder = folder
        self._extra = extra or {}
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._talks: set[_Talk] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._restarting: asyncio.Task[None] | None = None
        self._machine: KlipperMachine | None = None
        self._clock_s = 0.0  # of the machine, as Klipper has a clock that never jumps

    # --- for tests, from their own thread -----------------------------------------------------

    def do(self, what: Callable[[], Awaitable[T]]) -> T:
        """Do this in Klippy's own thread, and wait for it."""

        async def wrapped() -> T:
            return await what()

        return asyncio.run_coroutine_threadsafe(wrapped(), self._loop).result(DO_S)

    def call(self, what: Callable[[], T]) -> T:
        async def wrapped() -> T:
            return what()

        return self.do(wrapped)

    def set(self, name: str, **fields: Any) -> None:
        """Let an object report this."""
        self.call(lambda: self.machine.objects[name].update(fields))

    def shut_down(self, message: str) -> None:
        words = _SHUT_DOWN_WORDS.format(message)
        self.call(lambda: self.machine.shut_down(words))

    def say(self, text: str) -> None:
        """A line on the console."""
        self.call(lambda: self._say(text))

    def come(self, extra: Status | None = None) -> None:
        """Start, with a fresh printer."""
        if extra is not None:
            self._extra = extra
        self.do(self._come)

    def renew(self, extra: Status) -> None:
        """Another printer of the same objects in its place, without a restart."""
        self._extra = extra
        self.call(self._renew)

    def go(self) -> None:
        """Vanish, as a process that is killed."""
        self.do(self._go)

    @property
    def is_there(self) -> bool:
        return self._server is not None

    @property
    def machine(self) -> KlipperMachine:
        assert self._machine is not None  # since it came
        return self._machine

    # --- life ---------------------------------------------------------------------------------

    def live(self) -> None:
        """The thread's work."""
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def end(self) -> None:
        self.go()
        self._loop.call_soon_threadsafe(self._loop.stop)

    @property
    def socket(self) -> Path:
        return self._folder / "klippy_uds"

    async def _come(self) -> None:
        self._renew()
        self._server = await asyncio.start_unix_server(
            self._talk, self.socket, limit=MAX_REQUEST_BYTES
        )
        self._spawn(self._tick())

    def _renew(self) -> None:
        if self._machine is not None:
            self._machine.close()
        extra: Status = json.loads(json.dumps(self._extra))
        self._machine = KlipperMachine(self._folder / "gcodes", self._say, extra)

    async def _go(self) -> None:
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self.socket.unlink(missing_ok=True)
        self.machine.close()
        for task in list(self._tasks - {asyncio.current_task()}):
            task.cancel()
        for talk in list(self._talks):
            talk.writer.close()
        await asyncio.sleep(0)

    async def _restart(self) -> None:
        await self._go()
        await self._come()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._clock_s += TICK_S
            self.machine.tick(TICK_S)

    def _spawn(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- the protocol -------------------------------------------------------------------------

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = _Talk(writer)
        self._talks.add(talk)
        self._spawn(self._push(talk))
        try:
            while True:
                request = json.loads((await reader.readuntil(END))[:-1])
                self._spawn(self._answer(talk, request))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # Moonraker has left
        finally:
            self._talks.discard(talk)
            writer.close()

    async def _answer(self, talk: "_Talk", request: dict[str, Any]) -> None:
        method, params = request["method"], request.get("params") or {}
        try:
            result = await self._carry_out(talk, method, params)
        except GcodeRefused as refused:
            error = {"error": "WebRequestError", "message": str(refused)}
            talk.send({"id": request["id"], "error": error})
        else:
            talk.send({"id": request["id"], "result": result})

    async def _carry_out(self, talk: "_Talk", method: str, params: dict[str, Any]) -> Any:
        match method:
            case "info":
                return self._info()
            case "list_endpoints":
                return {"endpoints": _ENDPOINTS}
            case "objects/list":
                return {"objects": list(self.machine.objects)}
            case "objects/query":
                return self._query(params["objects"])
            case "objects/subscribe":
                return talk.subscribe(params, self._query(params["objects"]))
            case "gcode/subscribe_output":
                talk.console = params["response_template"]
            case "gcode/script":
                await self._script(params["script"])
            case "gcode/restart" | "gcode/firmware_restart":
                await self._script(_RESTARTS[0])
            case "emergency_stop":  # it waits for no G-code
                self.machine.shut_down(_SHUT_DOWN_WORDS.format(_EMERGENCY))
            case _ if method in _SCRIPTS:
                await self._script(_SCRIPTS[method])
        return {}

    async def _script(self, script: str) -> None:
        if script.strip() in _RESTARTS:
            self._restarting = self._loop.create_task(self._restart())
            return
        hooks = self.machine.objects["webhooks"]
        if hooks["state"] != "ready":
            raise GcodeRefused(hooks["state_message"])
        try:
            await self.machine.run(script)
        except GcodeRefused as refused:
            self._say(f"!! {refused}")
            raise

    def _info(self) -> dict[str, Any]:
        folder = self._folder
        return {
            **self.machine.objects["webhooks"],
            "hostname": "simulated",
            "software_version": VERSION,
            "klipper_path": str(folder / "klipper"),  # what is in there is reserved
            "python_path": "/usr/bin/python3",
            "log_file": str(folder / "logs" / "klippy.log"),
            "config_file": str(folder / "config" / "printer.cfg"),
            "process_id": os.getpid(),
            "user_id": os.getuid(),
            "group_id": os.getgid(),
            "cpu_info": "simulated",
        }

    def _query(self, wanted: dict[str, list[str] | None]) -> dict[str, Any]:
        return {"eventtime": self._clock_s, "status": self._status(wanted)}

    def _status(self, wanted: dict[str, list[str] | None]) -> Status:
        reported: Status = {}
        for name, fields in wanted.items():
            at = self.machine.objects.get(name, {})
            reported[name] = {k: v for k, v in at.items() if fields is None or k in fields}
        copied: Status = json.loads(json.dumps(reported))
        return copied

    async def _push(self, talk: "_Talk") -> None:
        while True:
            await asyncio.sleep(PUSH_S)
            talk.push(self._status(talk.wanted), self._clock_s)

    def _say(self, text: str) -> None:
        for talk in self._talks:
            if talk.console is not None:
                talk.send({**talk.console, "params": {"response": text}})


class _Talk:
    """One connection of Moonraker."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.wanted: dict[str, list[str] | None] = {}
        self.console: dict[str, Any] | None = None
        self._template: dict[str, Any] = {}
        self._told: Status = {}

    def send(self, message: dict[str, Any]) -> None:
        if not self.writer.is_closing():
            self.writer.write(json.dumps(message).encode() + END)

    def subscribe(self, params: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        self.wanted = params["objects"]
        self._template = params["response_template"]
        self._told = answer["status"]
        return answer

    def push(self, status: Status, now: float) -> None:
        """Only what has changed."""
        changed: Status = {}
        for name, fields in status.items():
            before = self._told.get(name, {})
            news = {key: value for key, value in fields.items() if before.get(key) != value}
            if news:
                changed[name] = news
        self._told = status
        if changed:
            self.send({**self._template, "params": {"eventtime": now, "status": changed}})


_ENDPOINTS = [
    *("info", "list_endpoints", "objects/list", "objects/query", "objects/subscribe"),
    *("gcode/subscribe_output", "register_remote_method", "gcode/script", "gcode/help"),
    *("pause_resume/pause", "pause_resume/resume", "pause_resume/cancel", "emergency_stop"),
    *("gcode/restart", "gcode/firmware_restart"),
]


@contextmanager
def klippy(folder: Path, extra: Status | None = None) -> Iterator[Klippy]:
    """Run one for a Moonraker with this data folder."""
    running = Klippy(folder, extra)
    thread = threading.Thread(target=running.live, name="klippy", daemon=True)
    thread.start()
    try:
        running.come()
        yield running
    finally:
        running.end()
        thread.join(DO_S)
