"""1 GiB to a reader that is slower than the printer: the memory that relay and agent gain."""

import time

from bench.nginx import LONG_DOWNLOAD_BYTES
from bench.processes import Broken, forget_peak, peak_bytes, resident_bytes
from bench.report import Figure, Measurement, Reading
from bench.service import connect, linked_agent, web_server_at
from bench.world import OURS, World
from tests.rigs.calls import call, raw_request, read_head
from tests.rigs.ways import Way

TITLE = "1 GiB to a slow reader"
STALL_S = 1.0
"""Nothing is read at first: long enough for all of it to be gathered, if anybody would."""
READ_BYTES_S = 150e6
_PIECE_BYTES = 256 * 1024


def run(world: World) -> Measurement:
    with (
        world.another_service("growth") as service,
        linked_agent(service, "growth", *web_server_at(world.backend.port)) as printer,
    ):
        way = connect(service, printer)
        call(way, "/small")  # memory that any request takes does not count as growth
        pids = {"relay": service.program.pid, "agent": printer.agent.program.pid}
        before = {name: resident_bytes(pid) for name, pid in pids.items()}
        for pid in pids.values():
            forget_peak(pid)
        seconds = _read_slowly(way)
        grown = {name: (peak_bytes(pid) - before[name]) / 1e6 for name, pid in pids.items()}
    return Measurement(
        [
            *(Reading.of(OURS, f"{name} before", "MB", [before[name] / 1e6]) for name in pids),
            Reading.of(OURS, "took", "s", [seconds]),
        ],
        [Figure.of(f"growth.{name}", [grown[name]]) for name in pids],
    )


def _read_slowly(way: Way) -> float:
    """Read all of it at READ_BYTES_S, after a stall; return the seconds it took."""
    began, size, buffer = time.monotonic(), 0, bytearray(_PIECE_BYTES)
    with raw_request(way, "GET", "/long-download") as connection:
        status, _ = read_head(connection)
        time.sleep(STALL_S)
        reading_since = time.monotonic()
        while size < LONG_DOWNLOAD_BYTES and (read := connection.recv_into(buffer)):
            size += read
            time.sleep(max(0.0, reading_since + size / READ_BYTES_S - time.monotonic()))
    if status != 200 or size != LONG_DOWNLOAD_BYTES:
        raise Broken(f"a long download brought {status} and {size} bytes")
    return time.monotonic() - began
