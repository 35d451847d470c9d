"""The round trip of a WebSocket message of 1 KB, sequentially."""

import socket
import time

from bench.echo import CLIENT_HEADER, MESSAGE_BYTES, SERVER_HEADER
from bench.measures import interleave, percentile, ratios
from bench.processes import Broken
from bench.report import Measurement, Reading
from bench.world import OURS_TLS, SSH, World, both_builds
from tests.rigs.calls import raw_request, read_head
from tests.rigs.ways import Way

TITLE = "WebSocket, 1 KB echo"
_HANDSHAKE = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "YSBiZW5jaG1hcmsncyBrZXk="),
)
_MESSAGE = CLIENT_HEADER + b"m" * MESSAGE_BYTES
_ECHO = SERVER_HEADER + b"m" * MESSAGE_BYTES


def run(world: World) -> Measurement:
    taken = interleave(
        world.to_origin, world.plan.rounds, lambda way: _echoes_ms(way, world.plan.seconds / 2)
    )
    p50 = {name: [percentile(one, 50) for one in all_] for name, all_ in taken.items()}
    return Measurement(
        [
            *(Reading.of(name, "p50", "ms", values) for name, values in p50.items()),
            *(
                Reading.of(name, "p99", "ms", [percentile(one, 99) for one in all_])
                for name, all_ in taken.items()
            ),
            Reading.of(OURS_TLS, "p50, of ssh -R's", "x", ratios(p50[OURS_TLS], p50[SSH])),
        ],
        [both_builds("websocket.ssh", p50, SSH)],
    )


def _echoes_ms(way: Way, seconds: float) -> list[float]:
    times_ms: list[float] = []
    with raw_request(way, "GET", "/ws", *_HANDSHAKE) as connection:
        status, _ = read_head(connection)
        if status != 101:
            raise Broken(f"a WebSocket handshake at {way.host} brought {status}")
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            connection.sendall(_MESSAGE)
            if _receive(connection, len(_ECHO)) != _ECHO:
                raise Broken(f"an echo at {way.host} is not what was sent")
            times_ms.append(1e3 * (time.perf_counter() - began))
    return times_ms


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise Broken("a WebSocket was closed in the middle of an echo")
        data += more
    return data
