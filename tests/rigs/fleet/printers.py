"""The web server of one printer of the fleet."""

import hashlib
import json
from collections.abc import AsyncGenerator, Callable
from urllib.parse import parse_qs

from printreach.http1.messages import Answer, Call, Handler
from tests.rigs.behaviour.pattern import blocks


def printer(number: int, complain: Callable[[str], None]) -> Handler:
    """The handler of the printer with this number.

    /file?size= gives the pattern; anything else says what arrived. Every request names the printer
    it is meant for with ?for=.
    """

    async def handle(call: Call) -> Answer:
        query = parse_qs(call.query.decode())
        if query.get("for") != [str(number)]:
            complain(f"printer {number} got {call.head.target!r}")
        if call.path == b"/file":
            size = int(query["size"][0])
            return Answer(body=_file(size), length=size)
        total, size = hashlib.sha256(), 0
        async for piece in call.body:
            total.update(piece)
            size += len(piece)
        seen = {"printer": number, "sha256": total.hexdigest(), "size": size}
        return Answer(body=json.dumps(seen).encode())

    return handle


async def _file(size: int) -> AsyncGenerator[bytes, None]:
    for block in blocks(size):
        yield block
