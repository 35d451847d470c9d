"""Attacks of hostile strangers: one coroutine for each kind.

Each takes one connection from an address of its own, ends within ATTACK_S, and gives the status
code of the answer, or a word for what came instead of one.
"""

import asyncio
import os
import random
import zlib
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from tests.detector.images import png_chunk, png_head, png_of

ATTACK_S: Final = 20.0
_BYTE_EVERY_S: Final = 1.0
_WHOLE_FORM_BYTES: Final = 9_900_000
_TUNNEL_PATH: Final = "/api/agent/tunnel"  # docs/protocol.md


@dataclass(frozen=True, kw_only=True)
class Target:
    """The service under siege, and what a stranger may know of it.

    host, port: of the service. app_host: the host of an App Connection. owner: an account's mail
    address. detection_key: of an account that the attacker owns. contexts: where its images go.
    """

    host: str
    port: int
    app_host: str
    owner: str
    detection_key: str
    contexts: list[str]


class Stranger:
    """One connection of a stranger, from an address of its own."""

    def __init__(
        self, target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.target = target
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        """Send data; the service may have closed the connection already."""
        if not self.writer.is_closing():
            self.writer.write(data)

    async def status(self, seconds: float = 10.0) -> str:
        """Return the status code of the response, "closed", or "nothing" if none comes in time."""
        try:
            async with asyncio.timeout(seconds):
                line = await self.reader.readline()
        except TimeoutError:
            return "nothing"
        except (ConnectionError, ValueError):
            return "closed"
        return line[9:12].decode("latin-1") if line.startswith(b"HTTP/1.1 ") else "closed"

    def head(self, method: str, path: str, *fields: str, host: str | None = None) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or self.target.host}", *fields]
        return "\r\n".join([*lines, "", ""]).encode()

    def form(self, path: str, body: bytes, length: int | None = None) -> bytes:
        """Return a form as a page of the service would send it."""
        fields = (
            f"Origin: http://{self.target.host}",
            "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(body) if length is None else length}",
        )
        return self.head("POST", path, *fields) + body


Attack = Callable[[Stranger], Awaitable[str]]


async def slow_head(one: Stranger) -> str:
    """Send a request's head a byte at a time."""
    for byte in one.head("GET", "/signin"):
        one.send(bytes([byte]))
        if one.reader.at_eof() or one.writer.is_closing():
            return "closed"
        await asyncio.sleep(_BYTE_EVERY_S)
    return await one.status()


async def stalled_body(one: Stranger) -> str:
    """Send most of a large form, and then nothing."""
    path = random.choice(("/signin", "/signup", "/printers/x/pause"))
    one.send(one.form(path, b"a" * 60_000, length=64_000))
    return await one.status(ATTACK_S)


async def whole_form(one: Stranger) -> str:
    """Send a form of ten megabytes in which every second byte begins another field."""
    path = random.choice(("/printers/x/pause", "/connections/share", "/signin"))
    one.send(one.form(path, b"", length=_WHOLE_FORM_BYTES))
    answer = asyncio.create_task(one.status(ATTACK_S))
    for _ in range(_WHOLE_FORM_BYTES // 60_000):
        one.send(b"1&" * 30_000)
        try:
            await one.writer.drain()
        except ConnectionError:
            break
        if answer.done():
            break
    return await answer


async def form_of_fields(one: Stranger) -> str:
    """Send a small form that consists of fields only."""
    one.send(one.form("/signin", b"1&" * 32_000))
    return await one.status()


async def query_of_fields(one: Stranger) -> str:
    """Request a page with a new query of many fields each time."""
    pairs = "&".join(f"{random.getrandbits(20):x}" for _ in range(5_000))
    one.send(one.head("GET", f"/signin?{pairs}"))
    return await one.status()


async def cookie_of_pairs(one: Stranger) -> str:
    """Send many cookies that are new each time."""
    pairs = ";".join(f"{random.getrandbits(20):x}=1" for _ in range(3_000))
    one.send(one.head("GET", "/printers", f"Cookie: {pairs}"))
    return await one.status()


async def broken_off_form(one: Stranger) -> str:
    """Disconnect in the middle of a form whose address would forge a line of the log."""
    path = "/printers/x%0a2026-01-01T00:00:00+0000%20INFO%20printreach%20all%20is%20well%1b[31m"
    one.send(one.form(path, b"a=1", length=1_000))
    await asyncio.sleep(0.1)
    return "left"


async def silent_agent(one: Stranger) -> str:
    """Connect as an agent, send a fragment of a megabyte, and never sign in."""
    key = b64encode(os.urandom(16)).decode()
    fields = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    protocol = "Sec-WebSocket-Protocol: printreach.tunnel.v1"
    one.send(one.head("GET", _TUNNEL_PATH, *fields, f"Sec-WebSocket-Key: {key}", protocol))
    status = await one.status()
    one.send(b"\x02\xff" + (1 << 20).to_bytes(8, "big") + b"mask" + b"a" * (1 << 20))
    try:
        async with asyncio.timeout(ATTACK_S):
            while await one.reader.read(65_536):
                pass
    except (TimeoutError, ConnectionError):
        pass
    return status


async def event_stream(one: Stranger) -> str:
    """Request a stream of events with another account's token, or an invalid one."""
    path = random.choice(("/printers/events", "/api/events", "/live/0/events"))
    one.send(one.head("GET", path, "Accept: text/event-stream"))
    return await one.status()


async def wrong_password(one: Stranger) -> str:
    """Guess the password of an account that exists."""
    form = urlencode({"email": one.target.owner, "password": os.urandom(8).hex(), "next": "/"})
    one.send(one.form("/signin", form.encode()))
    return await one.status()


async def many_sign_ups(one: Stranger) -> str:
    """Sign up with an address of somebody else."""
    form = urlencode({"email": f"{os.urandom(6).hex()}@example.com", "password": "long enough 1!"})
    one.send(one.form("/signup", form.encode()))
    return await one.status()


async def link_code(one: Stranger) -> str:
    """Guess a link code."""
    code = "".join(random.choices("ABCDEFGHJKMNPQRSTUVWXYZ", k=8))
    one.send(one.form("/link", urlencode({"code": code}).encode()))
    return await one.status()


async def connection_secret(one: Stranger) -> str:
    """Guess the secret of an App Connection whose host is known."""
    secret = f"Authorization: Bearer {os.urandom(24).hex()}"
    one.send(one.head("GET", "/", secret, host=one.target.app_host))
    return await one.status()


async def unknown_host(one: Stranger) -> str:
    """Request the host of a connection that does not exist."""
    host = f"app-{os.urandom(16).hex()}.{one.target.host}"
    one.send(one.head("GET", "/", host=host))
    return await one.status()


async def image_bomb(one: Stranger) -> str:
    """Send an image of a few kilobytes that would decode to many gigabytes."""
    bomb = png_of(
        png_head(60_000, 60_000),
        png_chunk(b"IDAT", zlib.compress(b"\0" * 5_000_000)),
        png_chunk(b"IEND", b""),
    )
    body = image_form(bomb)
    path = random.choice(one.target.contexts)
    fields = (
        f"X-API-Key: {one.target.detection_key}",
        "Content-Type: multipart/form-data; boundary=x",
        f"Content-Length: {len(body)}",
    )
    one.send(one.head("POST", path, *fields) + body)
    return await one.status()


def image_form(image: bytes) -> bytes:
    """Return the body of an image's upload; its boundary is x."""
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    return head + image + b"\r\n--x--\r\n"


async def smuggled(one: Stranger) -> str:
    """Send a request that two parsers could understand in two ways."""
    fields = ("Content-Length: 4", "Transfer-Encoding: chunked")
    one.send(one.head("POST", "/signin", *fields) + b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n")
    return await one.status()


async def only_connects(one: Stranger) -> str:
    """Connect and send nothing."""
    return await one.status(ATTACK_S)


ATTACKS: Final[tuple[Attack, ...]] = (
    *(slow_head, stalled_body, whole_form, form_of_fields, query_of_fields, cookie_of_pairs),
    *(broken_off_form, silent_agent, event_stream, wrong_password, many_sign_ups, link_code),
    *(connection_secret, unknown_host, image_bomb, smuggled, only_connects),
)
BY_NAME: Final = {attack.__name__: attack for attack in ATTACKS}
