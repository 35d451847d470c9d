"""A fake Centauri Carbon: SDCP over a WebSocket, its uploads and downloads, in this process."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

from websockets.asyncio.server import Server as SocketServer
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call
from printreach.http1.server import Server
from tests.fakes.elegoo_machine import LAYERS, Machine, live
from tests.printers.film import film_at
from tests.rigs.waiting import free_port

Json = dict[str, Any]

BOARD = "000000000001d354"
STATES = {
    "idle": 0,
    "warming": 16,
    "printing": 13,
    "pausing": 5,
    "paused": 6,
    "stopped": 8,
    "complete": 9,
    "failed": 14,
}
FILE_DAMAGED, OK, REFUSED, NO_FILE = 2, 0, 1, 2
TAKES = 2 << 20
PART = re.compile(rb'name="([^"]+)"(?:; filename="([^"]*)")?\r\n(?:[^\r]+\r\n)*\r\n(.*)', re.DOTALL)


class FakeSdcp:
    """Made by fake_sdcp(). refuses: it serves too many clients already."""

    def __init__(self, camera_port: int) -> None:
        self.machine = Machine(speed=100)
        self.port, self.web_port = free_port(), free_port()
        self.refuses = False
        self.is_quiet = False
        self._camera_port = camera_port
        self._uploads: dict[str, bytearray] = {}
        self._sockets: SocketServer | None = None
        self._web: Server | None = None

    async def come_back(self) -> None:
        self._sockets = await serve(self._serve, "127.0.0.1", self.port)
        self._web = Server(self._answer, ServerLimits())
        await self._web.listen("127.0.0.1", self.web_port, None)

    async def go_away(self) -> None:
        if self._sockets is not None and self._web is not None:
            self._sockets.close()
            await self._sockets.wait_closed()
            await self._web.close()
            self._sockets = self._web = None

    def say(self, message: str | bytes) -> None:
        if self._sockets is not None:
            broadcast(self._sockets.connections, message)

    def push(self) -> None:
        if not self.is_quiet:
            self.say(json.dumps(self.status()))

    def status(self) -> Json:
        machine = self.machine
        info = {
            "Status": STATES[machine.state],
            "CurrentLayer": machine.layer,
            "TotalLayer": LAYERS if machine.name else 0,
            "CurrentTicks": machine.printed_s,
            "TotalTicks": machine.total_s,
            "Filename": machine.name,
            "TaskId": "b1d9" if machine.name else "",
            "PrintSpeedPct": machine.speed,
            "Progress": machine.progress,
            "ErrorNumber": FILE_DAMAGED if machine.state == "failed" else 0,
        }
        reported = {
            "CurrentStatus": [1 if machine.state in ("warming", "printing", "pausing") else 0],
            "TimeLapseStatus": 0,
            "PlatFormType": 0,
            "TempOfHotbed": 25.1 + machine.bed_target,
            "TempOfNozzle": 26.3 + machine.nozzle_target,
            "TempOfBox": 24.6,
            "TempTargetHotbed": machine.bed_target,
            "TempTargetNozzle": machine.nozzle_target,
            "TempTargetBox": 0,
            "CurrenCoord": "202.00,264.50,24.59",
            "CurrentFanSpeed": {"ModelFan": machine.fan, "AuxiliaryFan": 0, "BoxFan": 0},
            "ZOffset": 0.0,
            "LightStatus": {"SecondLight": int(machine.is_lit), "RgbLight": [0, 0, 0]},
            "PrintInfo": info,
        }
        return {"Status": reported, "MainboardID": BOARD, "Topic": f"sdcp/status/{BOARD}"}

    def attributes(self) -> Json:
        reported = {
            "Name": "Centauri Carbon",
            "MachineName": "Centauri Carbon",
            "BrandName": "Centauri",
            "ProtocolVersion": "V3.0.0",
            "FirmwareVersion": "V1.1.29",
            "MainboardID": BOARD,
            "CameraStatus": 1,
            "MaximumVideoStreamAllowed": 1,
        }
        return {"Attributes": reported, "MainboardID": BOARD, "Topic": f"sdcp/attributes/{BOARD}"}

    # --- its WebSocket ----------------------------------------------------------------------------

    async def _serve(self, socket: ServerConnection) -> None:
        try:
            if self.refuses:
                await socket.send("too many client")
                return
            async for text in socket:
                if text == "ping":
                    await socket.send("pong")
                    continue
                for answer in self._hear(json.loads(text)["Data"]):
                    await socket.send(json.dumps(answer))
        except ConnectionClosed:
            pass  # clients come and go

    def _hear(self, request: Json) -> list[Json]:
        answer = self._obey(request["Cmd"], request["Data"])
        data = {"Cmd": request["Cmd"], "Data": answer, "RequestID": request["RequestID"]}
        reported: list[Json] = [{"Id": "", "Data": data, "Topic": f"sdcp/response/{BOARD}"}]
        if request["Cmd"] == 1:
            reported.append(self.attributes())
        elif request["Cmd"] == 0:
            reported.append(self.status())
        return reported

    def _obey(self, cmd: int, data: Json) -> Json:
        machine = self.machine
        if cmd == 128:
            is_started = machine.start(data["Filename"].removeprefix("/local/"))
            return {"Ack": OK if is_started else NO_FILE}
        if cmd == 258:
            return {"Ack": OK, "FileList": self._list()}
        if cmd == 259:
            for path in data["FileList"]:
                machine.files.pop(path.removeprefix("/local/"), None)
            return {"Ack": OK}
        if cmd == 386:
            machine.is_filming = bool(data["Enable"])
            return {"Ack": OK, "VideoUrl": f"127.0.0.1:{self._camera_port}/stream"}
        if cmd == 401:
            machine.moved.append((data["Axis"], data["Step"]))
        elif cmd == 402:
            machine.homed += 1
        if cmd == 403:
            machine.is_lit = bool(data.get("LightStatus", {}).get("SecondLight", machine.is_lit))
            machine.nozzle_target = data.get("TempTargetNozzle", machine.nozzle_target)
            machine.bed_target = data.get("TempTargetHotbed", machine.bed_target)
            machine.fan = data.get("TargetFanSpeed", {}).get("ModelFan", machine.fan)
            machine.speed = data.get("PrintSpeedPct", machine.speed)
        orders = {129: machine.pause, 130: machine.stop, 131: machine.resume}
        obeys = orders.get(cmd, lambda: True)()
        return {"Ack": OK if obeys else REFUSED}

    def _list(self) -> list[Json]:
        return [
            {
                "name": f"/local/{name}",
                "FileSize": len(data),
                "CreateTime": self.machine.made_at[name],
                "TotalLayers": LAYERS,
                "type": 1,
            }
            for name, data in self.machine.files.items()
        ]

    # --- its web server ---------------------------------------------------------------------------

    async def _answer(self, call: Call) -> Answer:
        if call.path == b"/uploadFile/upload":
            return self._take(await call.body.read(TAKES))
        name = unquote(call.path.decode()).removeprefix("/downloadFile/local/")
        if name in self.machine.files:
            return Answer(body=self.machine.files[name])
        return Answer(status=404)

    def _take(self, form: bytes) -> Answer:
        boundary = form.partition(b"\r\n")[0]
        parts: dict[bytes, tuple[bytes, bytes]] = {}
        for part in form.split(boundary)[1:-1]:
            found = PART.search(part.removesuffix(b"\r\n"))
            assert found is not None
            parts[found.group(1)] = (found.group(2), found.group(3))
        data, offset = parts[b"File"][1], int(parts[b"Offset"][1])
        upload_id, name = parts[b"Uuid"][1].decode(), parts[b"File"][0].decode()
        so_far = self._uploads.setdefault(upload_id, bytearray())
        if offset != len(so_far) or len(data) > 1 << 20:
            return _upload_answer(-1)
        so_far += data
        if len(so_far) == int(parts[b"TotalSize"][1]):
            whole = bytes(self._uploads.pop(upload_id))
            if hashlib.md5(whole).hexdigest() != parts[b"S-File-MD5"][1].decode():
                return _upload_answer(-4)
            self.machine.keep(name, whole)
        return _upload_answer(0)


def _upload_answer(number: int) -> Answer:
    reported: Json = {"code": "000000", "messages": None, "data": {}, "success": True}
    if number:
        messages = [{"field": "common_field", "message": number}]
        reported = {"code": "111111", "messages": messages, "data": None, "success": False}
    return Answer(body=json.dumps(reported).encode())


@asynccontextmanager
async def fake_sdcp() -> AsyncIterator[FakeSdcp]:
    """Running, with its camera."""
    camera_port = free_port()
    fake = FakeSdcp(camera_port)
    await fake.come_back()
    living = asyncio.create_task(live(fake.machine, fake.push))
    try:
        async with film_at(camera_port):
            yield fake
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)
        await fake.go_away()
