"""A server that speaks S3 and that somebody else wrote: moto's."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

# The server checks no signature, but it tells S3 from other services by this.
_SIGNED = {
    "Authorization": (
        "AWS4-HMAC-SHA256 Credential=key/20260501/us-east-1/s3/aws4_request, "
        "SignedHeaders=host, Signature=none"
    )
}


@contextmanager
def s3_server(folder: Path, bucket: str) -> Iterator[str]:
    """Run it with an empty bucket, and give its address."""
    port = free_port()
    argv = [str(peer_program("s3", "moto_server")), "-H", "127.0.0.1", "-p", str(port)]
    with Program("s3", argv, logs=folder, cwd=folder) as running:
        running.wait_until("listening", lambda: accepts_connections(port))
        address = f"http://127.0.0.1:{port}"
        made = httpx.put(f"{address}/{bucket}", headers=_SIGNED, timeout=30)
        assert made.status_code == 200, made.text
        yield address
