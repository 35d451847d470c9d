"""curl, as slicers and people use it."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.rigs.peers import system_program
from tests.rigs.ways import Header, Way


@dataclass(frozen=True)
class CurlAnswer:
    """curl's output: the body, and the status that was requested with it."""

    status: int
    body: bytes

    def json(self) -> object:
        """The body, decoded."""
        return json.loads(self.body)


def curl(
    way: Way,
    target: str,
    *words: str,
    user: tuple[str, str] | None = None,
    headers: tuple[Header, ...] = (),
    root: Path | None = None,
) -> CurlAnswer:
    """Run `curl WORDS URL`, the host pinned to loopback.

    user: goes in with -u; otherwise the way's own credentials are sent as headers.
    root: the certificate to trust.
    """
    proof = ["-u", ":".join(user)] if user else header_words(way.credentials)
    pinned = ["--resolve", f"{way.hostname}:{way.port}:127.0.0.1"]
    trust = ["--cacert", str(root)] if root else []
    written = ["-sS", "--path-as-is", "--max-time", "60", "-w", "\n%{http_code}"]
    program = str(system_program("curl", "curl"))
    argv = [program, *written, *pinned, *trust, *proof, *header_words(headers), *words]
    done = subprocess.run([*argv, way.url + target], capture_output=True, check=True)
    body, _, status = done.stdout.rpartition(b"\n")
    return CurlAnswer(int(status), body)


def header_words(headers: tuple[Header, ...]) -> list[str]:
    """The options for these headers."""
    return [word for name, value in headers for word in ("-H", f"{name}: {value}")]
