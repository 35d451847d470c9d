"""nginx in two roles: the printer's web server, and a plain reverse proxy as the baseline."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.processes import find_program
from tests.rigs.certificates import Authority
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

SMALL_BODY: Final = b'{"state": "Operational", "padding": "%b"}' % (b"x" * 984)
DOWNLOAD_BYTES: Final = 200_000_000
LONG_DOWNLOAD_BYTES: Final = 1 << 30

_TMPFS: Final = Path("/dev/shm")

# One process without a master: its cost is that of one worker, and no child outlives it.
_MAIN: Final = """
daemon off; master_process off; worker_processes 1; pid {folder}/{name}.pid;
error_log stderr error;
events {{ worker_connections 2048; }}
http {{
    access_log off; keepalive_requests 1000000000; client_max_body_size 0;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    {http}
}}
"""
_BACKEND: Final = """
    client_body_buffer_size 128k;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        root {folder};
        location = /small {{ default_type application/json; return 200 '{small}'; }}
        location /uploaded/ {{ dav_methods PUT; }}
    }}
"""
# Buffers of 64 KiB: with its usual 4 to 8 KiB, unbuffered answers cost four times as much a byte.
_PLAIN: Final = """
    upstream backend {{ server 127.0.0.1:{backend}; keepalive 64; keepalive_requests 1000000000; }}
    map $http_upgrade $connection_of {{ default upgrade; "" ""; }}
    proxy_http_version 1.1; proxy_set_header Host $http_host;
    proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_of;
    proxy_request_buffering off; client_body_buffer_size 128k;
    proxy_max_temp_file_size 0;
    proxy_buffer_size 64k; proxy_buffers 8 64k; proxy_busy_buffers_size 128k;
    server {{
        listen 127.0.0.1:{to_backend} backlog=1024;
        location / {{ proxy_pass http://backend; }}
    }}
    server {{
        listen 127.0.0.1:{to_origin} backlog=1024;
        location / {{ proxy_pass http://127.0.0.1:{origin}; proxy_buffering off; }}
    }}
"""
_TLS: Final = """
    server {{
        listen 127.0.0.1:{port} ssl backlog=1024;
        ssl_certificate {chain}; ssl_certificate_key {key};
        location / {{
            proxy_pass http://127.0.0.1:{upstream}; proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
            proxy_buffer_size 64k; proxy_buffers 8 64k; proxy_busy_buffers_size 128k;
            proxy_read_timeout 15m; proxy_send_timeout 15m;
        }}
    }}
"""


@dataclass(frozen=True, slots=True)
class Backend:
    """The printer's web server. folder: its files and uploads, in memory."""

    port: int
    folder: Path


@dataclass(frozen=True, slots=True)
class PlainProxy:
    """nginx in front of the backend and of the origin, with a port for each."""

    to_backend: int
    to_origin: int
    pid: int


@dataclass(frozen=True, slots=True)
class TlsProxy:
    """nginx as the TLS proxy of a service, which agents dial by https. root: the CA that they
    trust.
    """

    url: str
    root: Path
    pid: int


@contextmanager
def backend(logs: Path) -> Iterator[Backend]:
    """Serve 1 KB, 200 MB and 1 GiB; take uploads."""
    with tempfile.TemporaryDirectory(
        prefix="printreach-bench-", dir=_TMPFS if _TMPFS.is_dir() else None
    ) as name:
        folder, port = Path(name), free_port()
        _sparse(folder / "download", DOWNLOAD_BYTES)
        _sparse(folder / "long-download", LONG_DOWNLOAD_BYTES)
        (folder / "uploaded").mkdir()
        http = _BACKEND.format(port=port, folder=folder, small=SMALL_BODY.decode())
        with _nginx("backend", folder, http, logs, port):
            yield Backend(port, folder)


@contextmanager
def plain_proxy(logs: Path, *, backend: int, origin: int) -> Iterator[PlainProxy]:
    """Proxy to the two servers at these ports."""
    to_backend, to_origin = free_port(), free_port()
    http = _PLAIN.format(backend=backend, origin=origin, to_backend=to_backend, to_origin=to_origin)
    with _nginx("plain", logs, http, logs, to_origin) as program:
        yield PlainProxy(to_backend, to_origin, program.pid)


@contextmanager
def tls_proxy(logs: Path, upstream: int) -> Iterator[TlsProxy]:
    """Terminate TLS for `localhost` in front of the service at this port."""
    folder, port = Path(tempfile.mkdtemp(prefix="tls-", dir=logs)), free_port()
    authority = Authority(folder)
    chain, key = authority.issue("localhost")
    http = _TLS.format(port=port, chain=chain, key=key, upstream=upstream)
    with _nginx("tls", folder, http, logs, port) as program:
        yield TlsProxy(f"https://localhost:{port}", authority.root, program.pid)


@contextmanager
def _nginx(name: str, folder: Path, http: str, logs: Path, port: int) -> Iterator[Program]:
    config = logs / f"nginx-{name}.conf"
    config.write_text(_MAIN.format(folder=folder, name=name, http=http))
    argv = [find_program("nginx", "nginx"), "-c", str(config), "-e", "stderr"]
    with Program(f"nginx-{name}", argv, logs=logs) as program:
        program.wait_until("listening", lambda: accepts_connections(port))
        yield program


def _sparse(path: Path, size: int) -> None:
    """Create a sparse file of zeros."""
    with path.open("wb") as file:
        file.truncate(size)
