"""A provider of OpenID Connect that somebody else wrote: oidc-provider-mock, on Authlib."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

VOUCHED_FOR = {"sub": "ines", "email": "ines@hallow.example", "email_verified": True}


@contextmanager
def oidc_provider(folder: Path) -> Iterator[str]:
    """Run it, and give its address, which is its issuer. It knows Ines, and whoever says so."""
    port = free_port()
    program = str(peer_program("oidc", "oidc-provider-mock"))
    argv = [program, "--port", str(port), "--host", "127.0.0.1"]
    argv += ["--user-claims", json.dumps(VOUCHED_FOR)]
    with Program("oidc-provider", argv, logs=folder, cwd=folder) as running:
        running.wait_until("listening", lambda: accepts_connections(port))
        yield f"http://127.0.0.1:{port}"
