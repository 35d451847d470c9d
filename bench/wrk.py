"""wrk: the load generator, and the parser of its output."""

import re
import subprocess
from dataclasses import dataclass
from typing import Final

from bench.processes import Broken, find_program
from tests.rigs.ways import Way

_UNITS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass(frozen=True, slots=True)
class Load:
    """The outcome for the callers."""

    requests: int
    requests_a_second: float
    p50_ms: float
    p99_ms: float


def wrk(way: Way, target: str, *, connections: int, seconds: int) -> Load:
    """Request one thing repeatedly. Raises Broken if any response is an error."""
    headers = [("Host", way.host), *way.credentials]
    argv = [
        *(find_program("wrk", "wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"),
        *(word for name, value in headers for word in ("-H", f"{name}: {value}")),
        f"http://127.0.0.1:{way.port}{target}",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds + 30, check=True)
    try:
        return read_output(done.stdout)
    except Broken as fault:
        raise Broken(f"wrk at {way.host}: {fault}") from None


def read_output(text: str) -> Load:
    """Parse wrk's output. Raises Broken if it reports errors."""
    for fault in ("Socket errors", "Non-2xx"):
        if fault in text:
            line = next(line for line in text.splitlines() if fault in line)
            raise Broken(line.strip())
    return Load(
        requests=int(_found(r"(\d+) requests in", text)[1]),
        requests_a_second=float(_found(r"Requests/sec:\s+([\d.]+)", text)[1]),
        p50_ms=_latency_ms("50%", text),
        p99_ms=_latency_ms("99%", text),
    )


def _latency_ms(share: str, text: str) -> float:
    found = _found(rf"^\s+{share}\s+([\d.]+)(us|ms|s|m)$", text)
    return float(found[1]) * _UNITS[found[2]]


def _found(pattern: str, text: str) -> re.Match[str]:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise Broken(f"it said nothing that looks like {pattern}: {text}")
    return found
