"""The web role as the relay sees it: it answers with what it was asked, and remembers it."""

import json

from printreach.http1.messages import Answer, Call, Handler
from printreach.http1.server import Server


class WebRole:
    """asked: every request so far. handler: what answers them; a test may put its own."""

    server: Server

    def __init__(self) -> None:
        self.asked: list[Call] = []
        self.handler: Handler = self._echo

    async def handle(self, call: Call) -> Answer:
        self.asked.append(call)
        return await self.handler(call)

    async def _echo(self, call: Call) -> Answer:
        said = {"web": f"{call.method.decode()} {call.head.target.decode('latin-1')}"}
        return Answer(
            headers=[(b"Content-Type", b"application/json")], body=json.dumps(said).encode()
        )
