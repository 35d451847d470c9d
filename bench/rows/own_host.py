"""The service's own pages: through the front, and directly from the web server behind it."""

import uvloop

from bench.load import Target, keep_asking
from bench.measures import interleave, ratios
from bench.processes import CpuWatch
from bench.report import Figure, Measurement, Reading
from bench.service import data_dir
from bench.world import OURS, World
from printreach.run.web_node import SOCKET_NAME

TITLE = "own host through the front"
CONNECTIONS = 64
DIRECT = "web server"
_PATH = "/openapi.json"


def run(world: World) -> Measurement:
    service = world.service
    host = service.way_to(service.base_url.partition("//")[2]).host
    targets = {
        OURS: Target(f"127.0.0.1:{service.port}", host, _PATH),
        DIRECT: Target(str(data_dir(service) / SOCKET_NAME), host, _PATH),
    }
    pid = service.program.pid

    def measure(target: Target) -> tuple[float, float]:
        watch = CpuWatch({"service": pid})
        answers = uvloop.run(keep_asking(target, CONNECTIONS, world.plan.seconds))
        return answers / world.plan.seconds, 1e6 * watch.used_s()["service"] / answers

    taken = interleave(targets, world.plan.rounds, measure)
    rates = {name: [rate for rate, _ in all_] for name, all_ in taken.items()}
    return Measurement(
        [
            *(Reading.of(name, "requests", "/s", values) for name, values in rates.items()),
            *(
                Reading.of(name, "CPU of service, a request", "µs", [us for _, us in all_])
                for name, all_ in taken.items()
            ),
        ],
        [Figure.of("own-host.direct", ratios(rates[OURS], rates[DIRECT]))],
    )
