"""DuetWebServer: /machine/..., and some of /rr_..., which it answers as if it were a board."""

import json
from typing import Any
from urllib.parse import parse_qs, unquote, unquote_plus

from printreach.http1.messages import Answer, Call
from tests.fakes.duet import object_model
from tests.fakes.duet.board import NO_PASSWORD, file_info
from tests.fakes.duet.machine import Machine

Json = dict[str, Any]

MAX_FORM = 4096


class Dsf:
    """is_old: as 3.3, without sessions. is_down: its other half doesn't run."""

    def __init__(self, machine: Machine, password: str) -> None:
        self.machine = machine
        self.password = password
        self.keys: set[str] = set()
        self.is_old = False
        self.is_down = False

    async def answer(self, call: Call) -> Answer:
        if self.is_down:
            return Answer(status=503, body=b"Failed to connect to Duet (DCS is not started)")
        path = unquote(call.path.decode())
        query = {key: values[0] for key, values in parse_qs(call.query.decode()).items()}
        if path.startswith("/rr_"):
            return self._as_board(path)
        if not path.startswith("/machine/") or (self.is_old and path in _NEW):
            return Answer(status=404)
        if path == "/machine/connect":
            return self._connect(query.get("password", ""))
        key = (call.header(b"x-session-key") or b"").decode()
        if not self.is_old and self.password != NO_PASSWORD and key not in self.keys:
            return Answer(status=403)
        return await self._serve(call, path.removeprefix("/machine/"), key)

    def _as_board(self, path: str) -> Answer:
        if self.is_old or path != "/rr_connect":
            return Answer(status=404)
        return _answer_of({"err": 0, "apiLevel": 1, "isEmulated": True, "sessionTimeout": 8000})

    def _connect(self, password: str) -> Answer:
        if self.password not in (NO_PASSWORD, password):
            return Answer(status=403)
        key = f"key-{len(self.keys)}"
        self.keys.add(key)
        return _answer_of({"sessionKey": key})

    async def _serve(self, call: Call, path: str, key: str) -> Answer:
        if path == "disconnect":
            self.keys.discard(key)
            return Answer(status=204)
        if path in ("model", "status"):
            return _answer_of(object_model.whole(self.machine, is_dsf=True))
        if path == "code" and call.method == b"POST":
            return await self._code((await call.body.read(MAX_FORM)).decode())
        if path == "file/move" and call.method == b"POST":
            return self._move(parse_qs((await call.body.read(MAX_FORM)).decode()))
        part, _, name = path.partition("/")
        name = unquote_plus(name)  # the path was decoded before, and is once more
        if part == "file":
            return await self._file(call, _absolute(name))
        if part == "fileinfo":
            return self._fileinfo(_absolute(name))
        if part == "directory":
            return self._directory(call, _absolute(name))
        return Answer(status=404)

    async def _code(self, code: str) -> Answer:
        replies = [self.machine.order(line) for line in code.splitlines()]
        await self.machine.is_warm.wait()
        text = "\n".join(reply for reply in replies if reply)
        return Answer(headers=[(b"Content-Type", b"text/plain")], body=text.encode())

    async def _file(self, call: Call, path: str) -> Answer:
        if call.method == b"PUT":
            data = bytearray()
            try:
                async for piece in call.body:
                    data += piece
            finally:  # 3.4 and older leave what has come
                self.machine.keep(path, bytes(data))
            return Answer(status=201)
        if call.method == b"DELETE":
            status = {None: 204, "missing": 404, "busy": 500}[self.machine.remove(path)]
            return Answer(status=status, body=b"Directory not empty" if status == 500 else b"")
        found = self.machine.files.get(path)
        return Answer(status=404) if found is None else Answer(body=found)

    def _fileinfo(self, path: str) -> Answer:
        if path not in self.machine.files:
            return Answer(status=404)
        return _answer_of(file_info(self.machine, path))

    def _directory(self, call: Call, path: str) -> Answer:
        if call.method == b"PUT":
            self.machine.folders.add(path)
            return Answer(status=201)
        listed = self.machine.listed(path)
        if listed is None:
            return Answer(status=404)
        return _answer_of([self._entry(kind, f"{path}/{name}") for kind, name in listed])

    def _entry(self, kind: str, path: str) -> Json:
        name = path.rpartition("/")[2]
        if kind == "d":
            return {"type": "d", "name": name, "date": "2024-01-02T03:04:05"}
        reported = file_info(self.machine, path)
        return {
            "type": "f",
            "name": name,
            "size": reported["size"],
            "date": reported["lastModified"],
        }

    def _move(self, form: dict[str, list[str]]) -> Answer:
        source, target = _absolute(form["from"][0]), _absolute(form["to"][0])
        if source not in self.machine.files:
            return Answer(status=404)
        if target in self.machine.files and form.get("force", ["false"])[0].lower() != "true":
            return Answer(status=409)
        self.machine.keep(target, self.machine.files.pop(source))
        return Answer(status=204)


_NEW = frozenset({"/machine/connect", "/machine/disconnect", "/machine/model"})


def _absolute(path: str) -> str:
    return path.rstrip("/") if path.startswith("0:") else f"0:/{path.strip('/')}"


def _answer_of(answer: object) -> Answer:
    return Answer(
        headers=[(b"Content-Type", b"application/json")], body=json.dumps(answer).encode()
    )
