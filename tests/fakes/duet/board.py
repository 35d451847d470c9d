"""RepRapFirmware's web server: /rr_..., with its sessions, its limits and its ways to say no."""

import asyncio
import json
import re
import time
import zlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from printreach.http1.heads import Framing
from printreach.http1.messages import Answer, Call
from tests.fakes.duet import object_model
from tests.fakes.duet.machine import LAYERS, Machine

Json = dict[str, Any]

MAX_SESSIONS = 8
SESSION_S = 8.0
MAX_QUALIFIERS = 5
MAX_MESSAGE = 1460
MAX_ORDER = 512
PAGE = 3
"""Entries of a list in one answer; a real board gives as many as its memory allows."""
NOT_IN_NAMES = set('"*:<>?\\|')
BAD_ESCAPE = re.compile(rb"%(?![0-9A-F]{2})")
NO_PASSWORD = "reprap"


@dataclass
class Session:
    ip: str
    key: int
    used_at: float


class Board:
    """password: NO_PASSWORD stands for none. out_of_memory: so many answers of 503 come next."""

    def __init__(self, machine: Machine, password: str) -> None:
        self.machine = machine
        self.password = password
        self.sessions: list[Session] = []
        self.out_of_memory = 0
        self.replies: list[str] = []
        self.reply_seq = 0
        self._keys = 1000
        self._seqs = dict.fromkeys(object_model.LIVE, 1)
        self._rest: Json = {}

    async def answer(self, call: Call) -> Answer:
        decoded = unquote_to_bytes(call.head.target)
        if len(decoded) + sum(len(a) + len(b) for a, b in call.head.headers) > MAX_MESSAGE:
            return _reject(500, "overflow")
        if not call.path.startswith(b"/rr_"):
            return Answer(headers=[(b"Content-Type", b"text/html")], body=b"<html>Duet</html>")
        query = _read_query(call.query)
        if query is None:
            return _reject(500, "bad escape")
        if self.out_of_memory:
            self.out_of_memory -= 1
            return Answer(status=503)
        request = call.path.removeprefix(b"/rr_").decode()
        if request == "connect" and "password" in query:
            return _answer_of(self._connect(call, query))
        session = self._session_of(call)
        if session is None:
            code = 401 if call.method == b"GET" else 500
            return _reject(code, "Not authorized")
        session.used_at = _now()
        if call.method == b"POST":
            return await self._upload(call, query)
        return self._serve(request, query, session)

    # --- sessions ---------------------------------------------------------------------------------

    def _connect(self, call: Call, query: dict[str, str]) -> Json:
        if self.password != NO_PASSWORD and query["password"] != self.password:
            return {"err": 1}
        self._forget_silent()
        if len(self.sessions) >= MAX_SESSIONS:
            return {"err": 2}
        key = 0
        if query.get("sessionKey") == "yes":
            self._keys += 1
            key = self._keys
        if key or not self._find(call.peer, 0):
            self.sessions.append(Session(call.peer, key, _now()))
        reported = {"err": 0, "sessionTimeout": 8000, "boardType": "duetwifi102", "apiLevel": 1}
        return reported | {"sessionKey": key}

    def _session_of(self, call: Call) -> Session | None:
        self._forget_silent()
        header = call.header(b"x-session-key") or b"0"
        found = self._find(call.peer, int(header) if header.isdigit() else 0)
        if found is None and self.password == NO_PASSWORD and len(self.sessions) < MAX_SESSIONS:
            found = Session(call.peer, 0, _now())
            self.sessions.append(found)
        return found

    def _find(self, ip: str, key: int) -> Session | None:
        return next((one for one in self.sessions if (one.ip, one.key) == (ip, key)), None)

    def _forget_silent(self) -> None:
        now = _now()
        self.sessions = [one for one in self.sessions if now - one.used_at <= SESSION_S]

    # --- requests ---------------------------------------------------------------------------------

    def _serve(self, request: str, query: dict[str, str], session: Session) -> Answer:
        if request == "model":
            return _answer_of(self._model(query.get("key", ""), query.get("flags", "")))
        if request == "gcode":
            return _answer_of(self._gcode(query.get("gcode", "")))
        if request == "reply":
            text, self.replies = "".join(self.replies), []
            return Answer(headers=[(b"Content-Type", b"text/plain")], body=text.encode())
        if request == "disconnect":
            self.sessions.remove(session)
            return _answer_of({"err": 0})
        if request == "filelist" and "dir" in query:
            return _answer_of(self._filelist(query["dir"], int(query.get("first", 0))))
        if request == "fileinfo":
            return _answer_of(self._fileinfo(query.get("name", "")))
        if request == "download" and "name" in query:
            data = self.machine.files.get(_absolute(query["name"]))
            return _reject(404, "file not found") if data is None else Answer(body=data)
        if request == "delete" and "name" in query:
            return _answer_of(
                {"err": int(self.machine.remove(_absolute(query["name"])) is not None)}
            )
        if request == "mkdir":
            self.machine.folders.add(_absolute(query["dir"]))
            return _answer_of({"err": 0})
        return _reject(500, "Unknown request")

    def _model(self, key: str, flags: str) -> Json:
        whole = object_model.whole(self.machine, is_dsf=False)
        rest = object_model.rest(whole)
        for name in rest:
            self._seqs[name] += rest[name] != self._rest.get(name, rest[name])
        self._rest = rest
        seqs = {**self._seqs, "reply": self.reply_seq}
        result: Any = {**whole, "seqs": seqs}
        if "f" in flags:
            result = {**object_model.live(whole), "seqs": seqs}
        answer = {"key": key, "flags": flags}
        if key:
            result = result.get(key)
        if key == "tools" and "f" not in flags:  # as a long list comes: in parts
            start = int(flags.partition("a")[2] or 0)
            after = start + 1 if start + 1 < len(result) else 0
            return {**answer, "result": result[start : start + 1], "next": after}
        return {**answer, "result": result}

    def _gcode(self, code: str) -> Json:
        if len(code) >= MAX_ORDER:
            return {"err": 1}
        for line in code.splitlines():
            self.replies.append(self.machine.order(line) + "\n")
            self.reply_seq += 1
        return {"buff": MAX_ORDER - 1}

    def _filelist(self, folder: str, first: int) -> Json:
        folder = _absolute(folder)
        listed = self.machine.listed(folder)
        reported: Json = {"dir": folder, "first": first, "files": []}
        if listed is None:
            return {**reported, "err": 2}
        for kind, name in listed[first : first + PAGE]:
            path = f"{folder}/{name}"
            entry: Json = {"type": kind, "name": name}
            if kind == "f":
                made_at = _date(self.machine.made_at[path])
                entry |= {"size": len(self.machine.files[path]), "date": made_at}
            reported["files"].append(entry)
        after = first + PAGE
        return {**reported, "next": after if after < len(listed) else 0}

    def _fileinfo(self, name: str) -> Json:
        path = _absolute(name)
        if path not in self.machine.files:
            return {"err": 1}
        return {"err": 0, **file_info(self.machine, path)}

    async def _upload(self, call: Call, query: dict[str, str]) -> Answer:
        """Under another name until all of it is here, as the board does it."""
        if call.path != b"/rr_upload" or "name" not in query:
            return _reject(500, "only rr_upload is supported for POST requests")
        if call.head.framing is not Framing.LENGTH and call.head.length == 0:
            return _reject(500, "invalid POST upload request")
        path = _absolute(query["name"])
        if NOT_IN_NAMES & set(path.partition(":")[2]):
            return _reject(500, "could not create file")
        data = b"".join([piece async for piece in call.body])
        expected = query.get("crc32")
        if expected is not None and int(expected, 16) != zlib.crc32(data):
            return _answer_of({"err": 1})
        self.machine.keep(path, data)
        return _answer_of({"err": 0})


def file_info(machine: Machine, path: str) -> Json:
    """Return the facts about a file that both web servers report."""
    return {
        "fileName": path,
        "size": len(machine.files[path]),
        "lastModified": _date(machine.made_at[path]),
        "height": 10.0,
        "layerHeight": 0.2,
        "numLayers": LAYERS,
        "printTime": 600,
        "filament": [1234.5, 67.0],
        "generatedBy": "PrusaSlicer 2.7.1+linux-x64-GTK3 on 2024-01-02",
    }


def _now() -> float:
    return asyncio.get_running_loop().time()


def _date(unix_time: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(unix_time))


def _absolute(path: str) -> str:
    """`/gcodes/a` is on the first card, and so is what names no card."""
    return path.rstrip("/") if path.startswith("0:") else f"0:/{path.strip('/')}"


def _read_query(query: bytes) -> dict[str, str] | None:
    """None for what the board refuses to read."""
    pairs = [pair.partition(b"=") for pair in query.split(b"&")] if query else []
    if len(pairs) > MAX_QUALIFIERS or any(not equals for _, equals, _ in pairs):
        return None
    if BAD_ESCAPE.search(query):
        return None
    decoded = {key: unquote_to_bytes(value.replace(b"+", b" ")) for key, _, value in pairs}
    return {key.decode(): value.decode("utf-8", "replace") for key, value in decoded.items()}


def _answer_of(answer: Json) -> Answer:
    return _json(json.dumps(answer).encode() + b"\n")


def _json(body: bytes) -> Answer:
    return Answer(headers=[(b"Content-Type", b"application/json")], body=body)


def _reject(code: int, why: str) -> Answer:
    page = f"<html><p>Your Duet rejected the HTTP request: {why}</p>".encode()
    return Answer(status=code, headers=[(b"Content-Type", b"text/html")], body=page)
