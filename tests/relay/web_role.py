"""The web role as the relay calls it: it answers with what it was asked, and remembers it."""

import json

from printreach.relay.asgi import Receive, Scope, Send


class WebRole:
    """asked: the scope of every request so far."""

    def __init__(self) -> None:
        self.asked: list[Scope] = []

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        self.asked.append(scope)
        said = {"web": f"{scope['method']} {scope['raw_path'].decode('latin-1')}"}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(said).encode()})
