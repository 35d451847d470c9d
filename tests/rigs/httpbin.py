"""httpbin, under gunicorn: it alone of the WSGI servers gives httpbin chunked bodies."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port


@contextmanager
def httpbin(folder: Path) -> Iterator[str]:
    """Run it and give its address."""
    port = free_port()
    server = ("--bind", f"127.0.0.1:{port}", "--threads", "8", "--keep-alive", "30")
    gunicorn = str(peer_program("httpbin", "gunicorn"))
    argv = [gunicorn, *server, "--no-control-socket", "httpbin:app"]
    with Program("httpbin", argv, logs=folder, cwd=folder) as program:
        program.wait_until("listening", lambda: accepts_connections(port))
        yield f"http://127.0.0.1:{port}"
