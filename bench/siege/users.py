"""Ordinary users: an app, a person at the dashboard, a program; and their latencies.

    python -m bench.siege.users '{"port": 8080, "visits": [...], "seconds": 30}'

Prints, as JSON, the milliseconds that each kind of request took, and what went wrong.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Final

import msgspec
import uvloop

_EVERY_S: Final = 0.1
_PATIENCE_S: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request, repeated over a kept connection.

    head: the whole of it. status: what is answered when all is well. address: where it comes from.
    """

    name: str
    head: str
    status: int
    address: str


@dataclass(frozen=True, kw_only=True)
class Users:
    port: int
    visits: list[Visit]
    seconds: float


@dataclass
class Experience:
    """The outcomes of a user's requests."""

    taken_ms: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


async def live(users: Users) -> dict[str, Experience]:
    """Make every visit until the time is over."""
    ends_at = time.monotonic() + users.seconds
    met = {visit.name: Experience() for visit in users.visits}
    await asyncio.gather(
        *(_visit(users.port, visit, ends_at, met[visit.name]) for visit in users.visits)
    )
    return met


async def _visit(port: int, visit: Visit, ends_at: float, met: Experience) -> None:
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    while time.monotonic() < ends_at:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if connection is None:
                    connection = await asyncio.open_connection(
                        "127.0.0.1", port, local_addr=(visit.address, 0)
                    )
                status = await _ask(*connection, visit.head.encode())
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            met.faults.append(f"{type(error).__name__}: {error}")
            connection = None
            continue
        met.taken_ms.append(1e3 * (time.perf_counter() - began))
        if status != visit.status:
            met.faults.append(f"answered {status}")
        await asyncio.sleep(_EVERY_S)
    if connection is not None:
        connection[1].close()


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> int:
    """Return the status code after the whole response. Raises ValueError for an endless one."""
    writer.write(head)
    answer = await reader.readuntil(b"\r\n\r\n")
    fields = answer.lower().split(b"\r\n")
    length = next((one for one in fields if one.startswith(b"content-length:")), None)
    if length is None:
        raise ValueError(f"an answer without a length: {answer[:80]!r}")
    await reader.readexactly(int(length.partition(b":")[2]))
    return int(answer[9:12])


if __name__ == "__main__":
    _met = uvloop.run(live(msgspec.json.decode(sys.argv[1], type=Users)))
    print(json.dumps({name: vars(one) for name, one in _met.items()}))
