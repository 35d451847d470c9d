"""A web server with Buddy's answers, for what no PrusaLink on a Raspberry Pi does.

It agrees with recordings.buddy() and with the published source as we read it, and proves no more
than that. It asks for HTTP Digest as RFC 2069 has it, with a nonce that changes at will.
"""

import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

from printreach.http1.messages import Answer, Call
from printreach.http1.server import serve
from tests.printers.prusalink.recordings import buddy

USER, PASSWORD, REALM = "maker", "buddy-password", "Printer API"
_FIELD = re.compile(r'(\w+)="([^"]*)"')
_JSON = (b"Content-Type", b"application/json")


class Buddy:
    """moment: of the recording that its status is from. answers: more, by their targets.

    asked: method and path of each request that was let in. stored: uploads, by their paths.
    """

    def __init__(self) -> None:
        self.moment = "idle"
        self.answers: dict[str, Any] = {}
        self.asked: list[str] = []
        self.stored: dict[str, bytes] = {}
        self.folders: set[str] = set()
        self.refusals = 0
        self.nonce = "0001"
        self.port = 0

    async def answer(self, call: Call) -> Answer:
        target = call.head.target.decode()
        if not self._is_signed(call, target):
            self.refusals += 1
            challenge = f'Digest realm="{REALM}", nonce="{self.nonce}", stale="false"'
            return Answer(status=401, headers=[(b"WWW-Authenticate", challenge.encode())])
        path = unquote(target)
        self.asked.append(f"{call.method.decode()} {path}")
        if call.method == b"PUT" and path.startswith("/api/v1/files/usb/"):
            return await self._put(call, path.removeprefix("/api/v1/files"))
        if call.method != b"GET":
            waits = self.moment == "attention" and path.startswith("/api/v1/job/")
            return Answer(status=409 if waits else 204)
        return self._get(target, path)

    def _get(self, target: str, path: str) -> Answer:
        if path in self.stored:
            return Answer(body=self.stored[path])
        inside = path.removeprefix("/api/v1/files")
        if inside in self.stored:
            return _json({**_info(inside), "size": len(self.stored[inside])})
        reported = self.answers.get(target) or buddy().get(_key(self.moment, target))
        reported = reported or buddy().get(_key("idle", target))
        if isinstance(reported, bytes):
            return Answer(headers=[(b"Content-Type", b"image/jpeg")], body=reported)
        return Answer(status=404) if reported is None else _json(reported)

    async def _put(self, call: Call, path: str) -> Answer:
        folder = path.rpartition("/")[0]
        if call.header(b"create-folder") == b"?1":
            if path in self.folders:
                return Answer(status=409)
            self.folders.add(path)
            return Answer(status=201)
        if folder != "/usb" and folder not in self.folders:
            return Answer(status=422)
        self.stored[path] = b"".join([chunk async for chunk in call.body])
        return Answer(status=201, headers=[_JSON], body=json.dumps(_info(path)).encode())

    def _is_signed(self, call: Call, target: str) -> bool:
        given = dict(_FIELD.findall((call.header(b"authorization") or b"").decode()))
        secret = _md5(USER, REALM, PASSWORD)
        expected = _md5(secret, self.nonce, _md5(call.method.decode(), target))
        return given.get("nonce") == self.nonce and given.get("response") == expected


@asynccontextmanager
async def buddy_board() -> AsyncIterator[Buddy]:
    board = Buddy()
    server = await serve(board.answer, "127.0.0.1", 0)
    board.port = server.port
    try:
        yield board
    finally:
        await server.close()


def _key(moment: str, target: str) -> str:
    return f"{moment}: {target.removeprefix('/api/')}"


def _info(path: str) -> dict[str, Any]:
    name = path.rpartition("/")[2]
    refs = {"download": path}
    return {"name": "SHORT~1.GCO", "display_name": name, "type": "PRINT_FILE", "refs": refs}


def _json(reported: object) -> Answer:
    return Answer(headers=[_JSON], body=json.dumps(reported).encode())


def _md5(*parts: str) -> str:
    return hashlib.md5(":".join(parts).encode()).hexdigest()
