"""Run the printer: python -m tests.rigs.behaviour HTTP_PORT HTTPS_PORT CHAIN KEY."""

import asyncio
import ssl
import sys

from aiohttp import web

from tests.rigs.behaviour.table import Printer


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
