"""Run the printer: python -m tests.rigs.behaviour HTTP_PORT HTTPS_PORT CHAIN KEY."""

import asyncio
import dataclasses
import ssl
import sys

from aiohttp import web

from tests.rigs.behaviour import answers, streams, uploads, websockets
from tests.rigs.behaviour.answers import query
from tests.rigs.behaviour.journal import Journal

PLAIN = {"chosen": answers.chosen, "file": answers.file}
WATCHED = {
    "stepped": streams.stepped,
    "endless": streams.endless,
    "silent": streams.silent,
    "cut": streams.cut,
    "late-body": streams.late_body,
    "hints": streams.hints,
    "sink": uploads.sink,
    "sink-late": uploads.sink_late,
    "refuse": uploads.refuse,
    "early": uploads.answer_early,
    "ws-echo": websockets.echo_socket,
    "ws-target": websockets.target_socket,
    "ws-close": websockets.closing_socket,
    "ws-ping": websockets.pinging_socket,
    "ws-fragments": websockets.fragmenting_socket,
    "ws-refused": websockets.refusing_socket,
}


class Printer:
    """The handler of every request: picks the behaviour and notes how the request ended."""

    def __init__(self) -> None:
        self.journal = Journal()

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        name = request.raw_path.split("?")[0].split("/")[1]
        if name == "control":
            return self._control(request)
        if name not in WATCHED:
            return await PLAIN.get(name, answers.echo)(request)
        key = query(request).get("key", "")
        self.journal.note(key, "began")
        try:
            answer = await WATCHED[name](request, self.journal)
        except (asyncio.CancelledError, OSError):
            # aiohttp cancels the handler when the caller leaves; a write may notice it first
            self.journal.note(key, "cancelled")
            raise
        self.journal.note(key, "complete")
        return answer

    def _control(self, request: web.BaseRequest) -> web.StreamResponse:
        key = query(request)["key"]
        if request.path == "/control/step":
            self.journal.allow_step(key)
        return web.json_response([dataclasses.asdict(one) for one in self.journal.entries(key)])


async def serve(http_port: int, https_port: int, chain: str, key: str) -> None:
    """Serve both ports until the process is ended."""
    server = web.Server(Printer(), handler_cancellation=True)
    runner = web.ServerRunner(server)
    await runner.setup()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain, key)
    await web.TCPSite(runner, "127.0.0.1", http_port).start()
    await web.TCPSite(runner, "127.0.0.1", https_port, ssl_context=tls).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]))
