"""A fake Centauri Carbon 2: Mosquitto as its broker, the rest in this process."""

import asyncio
import contextlib
import hashlib
import json
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import aiomqtt

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call
from printreach.http1.server import Server
from tests.fakes.elegoo_machine import LAYERS, Machine, live
from tests.printers.film import film_at
from tests.rigs.peers import system_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

Json = dict[str, Any]

SERIAL, USER, ACCESS_CODE = "F01ABC0123456789", "elegoo", "246810"
CONFIG = """
per_listener_settings true
persistence false
log_type error
user root
listener {port} 127.0.0.1
allow_anonymous false
password_file {folder}/passwords
acl_file {folder}/rights

listener {inner_port} 127.0.0.1
allow_anonymous true
"""
STATES = {
    "idle": (1, 0, "standby"),
    "warming": (2, 1045, "printing"),
    "printing": (2, 2075, "printing"),
    "pausing": (2, 2501, "paused"),
    "paused": (2, 2502, "paused"),
    "stopped": (1, 0, "cancelled"),
    "complete": (1, 0, "complete"),
    "failed": (2, 2075, "error"),
}
CANVAS: Json = {
    "active_canvas_id": 0,
    "active_tray_id": 1,
    "auto_refill": True,
    "canvas_list": [
        {
            "canvas_id": 0,
            "connected": 1,
            "tray_list": [
                {
                    "tray_id": number,
                    "status": 1,
                    "brand": "ELEGOO",
                    "filament_type": kind,
                    "filament_name": f"{kind} Basic",
                    "filament_color": color,
                }
                for number, (kind, color) in enumerate(
                    [("PLA", "#ff8000"), ("PETG", "#00FF00"), ("ASA", "#000000")]
                )
            ],
        }
    ],
}
OK, REFUSED, BAD_TOKEN, NO_FILE, WRONG_OFFSET, WRONG_SUM = 0, 1010, 1000, 1003, 9000, 9004
RANGE = re.compile(rb"bytes (\d+)-(\d+)/(\d+)")
PIECE = 1 << 20


class Broker:
    """port: for clients. inner_port: for the fake printer itself."""

    def __init__(self, folder: Path) -> None:
        program = system_program("mosquitto", "mosquitto")
        passwords = system_program("mosquitto_passwd", "mosquitto")
        self.port, self.inner_port = free_port(), free_port()
        config = folder / "mosquitto.conf"
        config.write_text(CONFIG.format(port=self.port, inner_port=self.inner_port, folder=folder))
        (folder / "rights").write_text(f"user {USER}\ntopic readwrite elegoo/#\n")
        secrets = [str(passwords), "-c", "-b", str(folder / "passwords"), USER, ACCESS_CODE]
        subprocess.run(secrets, check=True, capture_output=True)
        self._program = Program("mosquitto", [program, "-c", config], logs=folder)

    def start(self) -> None:
        self._program.start()
        self._program.wait_until(
            "listening", lambda: accepts_connections(self.inner_port) or None, 60
        )

    def stop(self) -> None:
        self._program.kill()


class FakeCc2:
    """Made by fake_cc2(). skips: so many news get lost on their way."""

    def __init__(self, broker: Broker, camera_port: int) -> None:
        self.machine = Machine(speed=1)
        self.broker = broker
        self.web_port = free_port()
        self.refuses = False
        self.skips = 0
        self.full_asked = 0
        self.is_up = asyncio.Event()
        self._camera_port = camera_port
        self._said: Json = {}
        self._number = 0
        self._client: aiomqtt.Client | None = None
        self._uploads: dict[bytes, bytearray] = {}
        self._soon: set[asyncio.Task[None]] = set()

    async def live(self) -> None:
        """Be connected to the broker, whenever that runs."""
        while True:
            with contextlib.suppress(aiomqtt.MqttError):
                async with aiomqtt.Client("127.0.0.1", self.broker.inner_port) as client:
                    await client.subscribe(f"elegoo/{SERIAL}/api_register")
                    await client.subscribe(f"elegoo/{SERIAL}/+/api_request")
                    self._client = client
                    self.is_up.set()
                    async for message in client.messages:
                        await self._hear(str(message.topic), json.loads(bytes(message.payload)))
            self._client = None
            self.is_up.clear()
            await asyncio.sleep(0.05)

    def status(self) -> Json:
        machine = self.machine
        code, sub, word = STATES[machine.state]
        return {
            "machine_status": {
                "status": code,
                "sub_status": sub,
                "progress": machine.progress,
                "exception_status": [1204] if machine.state == "failed" else [],
            },
            "print_status": {
                "state": word,
                "filename": machine.name,
                "uuid": "c2f0" if machine.name else "",
                "current_layer": machine.layer,
                "total_layer": LAYERS if machine.name else 0,
                "print_duration": int(machine.printed_s),
                "total_duration": int(machine.printed_s),
                "remaining_time_sec": int(machine.total_s - machine.printed_s),
            },
            "extruder": {
                "temperature": 26.5 + machine.nozzle_target,
                "target": machine.nozzle_target,
            },
            "heater_bed": {
                "temperature": 25.5 + machine.bed_target,
                "target": machine.bed_target,
            },
            "ztemperature_sensor": {"temperature": 24.5},
            "led": {"status": int(machine.is_lit)},
            "fans": {"fan": {"speed": machine.fan}, "aux_fan": {"speed": 0}},
            "gcode_move": {"speed_mode": machine.speed},
        }

    def push(self) -> None:
        """Return the changes, object by object."""
        now = self.status()
        news = {
            key: {name: value for name, value in reported.items() if self._said[key][name] != value}
            for key, reported in now.items()
            if self._said and self._said[key] != reported
        }
        self._said = now
        if not news:
            return
        self._number += 1
        if self.skips:
            self.skips -= 1
            return
        self.say(json.dumps({"id": self._number, "method": 6000, "result": news}))

    def say(self, payload: str | bytes) -> None:
        if self._client is not None:
            self._send("api_status", payload)

    def _send(self, topic: str, payload: str | bytes) -> None:
        client = self._client

        async def send() -> None:
            if client is not None:
                with contextlib.suppress(aiomqtt.MqttError):
                    await client.publish(f"elegoo/{SERIAL}/{topic}", payload)

        task = asyncio.create_task(send())
        self._soon.add(task)
        task.add_done_callback(self._soon.discard)

    async def _hear(self, topic: str, order: Json) -> None:
        if topic.endswith("/api_register"):
            error = "too many clients" if self.refuses else "ok"
            reported = {"client_id": order["client_id"], "error": error}
            self._send(f"{order['request_id']}/register_response", json.dumps(reported))
            return
        client = topic.split("/")[2]
        if order.get("type") == "PING":
            self._send(f"{client}/api_response", '{"type": "PONG"}')
            return
        result = self._obey(order["method"], order["params"])
        reported = {"id": order["id"], "method": order["method"], "result": result}
        self._send(f"{client}/api_response", json.dumps(reported))

    def _obey(self, method: int, params: Json) -> Json:
        machine = self.machine
        if method == 1001:
            return {"error_code": OK, "software_version": {"ota_version": "01.03.02.00"}}
        if method == 1002:
            self.full_asked += 1
            self._said = self.status()
            return {"error_code": OK, **self._said}
        if method == 1020:
            return {"error_code": OK if machine.start(params["filename"]) else NO_FILE}
        if method == 1042:
            machine.is_filming = True
            return {"error_code": OK, "url": f"http://127.0.0.1:{self._camera_port}/stream"}
        if method == 1044:
            return {"error_code": OK, "file_list": self._list(params["offset"], params["limit"])}
        if method == 2005:
            return {"error_code": OK, "canvas_info": CANVAS}
        return {"error_code": OK if self._do(method, params) else REFUSED}

    def _do(self, method: int, params: Json) -> bool:
        machine = self.machine
        orders = {1021: machine.pause, 1022: machine.stop, 1023: machine.resume}
        if method in orders:
            return orders[method]()
        if method == 1026:
            machine.homed += 1
        elif method == 1027:
            machine.moved.append((params["axes"], params["distance"]))
        elif method == 1028:
            machine.nozzle_target = params.get("extruder", machine.nozzle_target)
            machine.bed_target = params.get("heater_bed", machine.bed_target)
        elif method == 1029:
            machine.is_lit = bool(params["power"])
        elif method == 1030:
            machine.fan = params["fan"]
        elif method == 1031:
            machine.speed = params["mode"]
        elif method == 1047:
            for name in params["file_path"]:
                machine.files.pop(name, None)
        else:
            return False
        return True

    def _list(self, offset: int, limit: int) -> list[Json]:
        files = [
            {
                "filename": name,
                "size": len(data),
                "create_time": self.machine.made_at[name],
                "layer": LAYERS,
                "print_time": 5137,
                "total_filament_used": 34.92,
                "type": "file",
            }
            for name, data in self.machine.files.items()
        ]
        return files[offset : offset + limit]

    # --- its web server ---------------------------------------------------------------------------

    async def answer(self, call: Call) -> Answer:
        if call.method == b"PUT":
            return _answer_of(self._take(call, await call.body.read(PIECE)))
        query = parse_qs(call.query.decode())
        if query["X-Token"] != [ACCESS_CODE]:
            return Answer(status=401)
        data = self.machine.files.get(query["file_name"][0])
        return Answer(status=404) if data is None else Answer(body=data)

    def _take(self, call: Call, piece: bytes) -> int:
        name, md5 = call.header(b"x-file-name") or b"", call.header(b"x-file-md5") or b""
        span = RANGE.fullmatch(call.header(b"content-range") or b"")
        if call.header(b"x-token") != ACCESS_CODE.encode():
            return BAD_TOKEN
        assert span is not None
        start, end, total = map(int, span.groups())
        so_far = self._uploads.setdefault(name, bytearray())
        if start != len(so_far) or end - start + 1 != len(piece):
            return WRONG_OFFSET
        so_far += piece
        if len(so_far) == total:
            whole = bytes(self._uploads.pop(name))
            if hashlib.md5(whole).hexdigest().encode() != md5:
                return WRONG_SUM
            self.machine.keep(name.decode(), whole)
        return OK


def _answer_of(error: int) -> Answer:
    return Answer(body=json.dumps({"error_code": error}).encode())


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    """One for all tests: it takes a moment to start."""
    broker = Broker(folder)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


@asynccontextmanager
async def fake_cc2(broker: Broker) -> AsyncIterator[FakeCc2]:
    """The printer at a running broker."""
    camera_port = free_port()
    fake = FakeCc2(broker, camera_port)
    web = Server(fake.answer, ServerLimits())
    await web.listen("127.0.0.1", fake.web_port, None)
    tasks = [
        asyncio.create_task(fake.live()),
        asyncio.create_task(live(fake.machine, fake.push)),
    ]
    try:
        await asyncio.wait_for(fake.is_up.wait(), 60)
        async with film_at(camera_port):
            yield fake
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await web.close()
