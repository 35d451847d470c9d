"""The service's own pages: from the application in the relay's process, and from a web node."""

import uvloop

from bench.load import Target, keep_asking
from bench.measures import interleave, ratios
from bench.processes import CpuWatch
from bench.report import Figure, Measurement, Reading
from bench.world import OURS, World
from tests.rigs.programs import Program
from tests.rigs.service import printreach
from tests.rigs.waiting import free_port

TITLE = "own host in the relay's process"
CONNECTIONS = 64
APART = "web node"
_PATH = "/openapi.json"


def run(world: World) -> Measurement:
    service = world.service
    host = service.way_to(service.base_url.partition("//")[2]).host
    port = free_port()
    argv, env = (
        printreach("serve", "--role", "web"),
        {**service.env, "PRINTREACH_LISTEN": f"127.0.0.1:{port}"},
    )

    def measure(asked: tuple[Target, int]) -> tuple[float, float]:
        target, pid = asked
        watch = CpuWatch({"server": pid})
        answers = uvloop.run(keep_asking(target, CONNECTIONS, world.plan.seconds))
        return answers / world.plan.seconds, 1e6 * watch.used_s()["server"] / answers

    with Program("web-node", argv, logs=service.folder, env=env) as node:
        node.wait_until("ready line", lambda: "ready {" in node.stdout_since_start())
        targets = {
            OURS: (Target(service.port, host, _PATH), service.program.pid),
            APART: (Target(port, host, _PATH), node.pid),
        }
        taken = interleave(targets, world.plan.rounds, measure)
    rates = {name: [rate for rate, _ in all_] for name, all_ in taken.items()}
    return Measurement(
        [
            *(Reading.of(name, "requests", "/s", values) for name, values in rates.items()),
            *(
                Reading.of(name, "CPU of its process, a request", "µs", [us for _, us in all_])
                for name, all_ in taken.items()
            ),
        ],
        [Figure.of("own-host.direct", ratios(rates[OURS], rates[APART]))],
    )
