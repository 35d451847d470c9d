"""A request as a server hands it over to the application, byte by byte."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

from litestar.types import HTTPReceiveMessage, Message, Scope

from tests.web.world import BASE_URL, Browser, WebWorld, run

FORM: Final = "application/x-www-form-urlencoded"


class Sent:
    """A request as a server hands it over, which notes whether its body was asked for.

    chunks: what comes of the body. is_whole: nothing follows; else the caller waits, or leaves.
    """

    def __init__(
        self,
        method: str,
        path: str,
        chunks: Sequence[bytes] = (b"a=1",),
        *,
        is_whole: bool = True,
        leaves: bool = False,
        **headers: str,
    ) -> None:
        named = {"host": "printreach.example", "origin": BASE_URL, "content-type": FORM}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        rows = [(name.encode(), value.encode()) for name, value in named.items()]
        plain, _, query = path.partition("?")
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": plain,
            "raw_path": plain.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": rows,
            "client": ("192.0.2.1", 1),
            "server": None,
            "state": {},
        }
        self.reads = 0
        self.status = 0
        self.text = b""
        self.is_waiting = asyncio.Event()
        self._chunks = list(chunks)
        self._is_whole, self._leaves = is_whole, leaves

    async def receive(self) -> HTTPReceiveMessage:
        self.reads += 1
        if self._chunks:
            chunk = self._chunks.pop(0)
            more = bool(self._chunks) or not self._is_whole
            return {"type": "http.request", "body": chunk, "more_body": more}
        if self._leaves:
            return {"type": "http.disconnect"}
        self.is_waiting.set()
        await asyncio.Event().wait()
        raise AssertionError("nothing more comes")

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.text += message["body"]

    def to(self, world: WebWorld, browser: Browser) -> "Sent":
        """Have it answered."""

        async def call() -> None:
            await world.app(cast("Scope", self.scope), self.receive, self.send)

        run(browser, call)
        return self
