"""A printer's status through the whole path, compared with a plain GET of its web server."""

import json

import uvloop

from bench.latency import latencies_ms
from bench.measures import interleave, percentile
from bench.processes import Broken
from bench.report import Figure, Measurement, Reading
from bench.rows.simulated import begin_print
from bench.service import connect, linked_agent
from bench.world import OURS, World
from tests.rigs.calls import call
from tests.rigs.ways import Way

TITLE = "status of a printing printer"
GET, STATUS = "plain GET", "status"
STATUS_PATH = "/service-command-api/status"


def run(world: World) -> Measurement:
    plain = world.to_backend[OURS]
    with linked_agent(world.service, "status", "--platform", "simulated") as printer:
        way = connect(world.service, printer)
        begin_print(way)
        _check(way)
        jobs = {GET: (plain, "/small"), STATUS: (way, STATUS_PATH)}
        taken = interleave(
            jobs,
            world.plan.rounds,
            lambda job: uvloop.run(latencies_ms(*job, seconds=world.plan.seconds)),
        )
    p99 = {name: [percentile(one, 99) for one in rounds] for name, rounds in taken.items()}
    p50 = {name: [percentile(one, 50) for one in rounds] for name, rounds in taken.items()}
    above = [one - other for one, other in zip(p99[STATUS], p99[GET], strict=True)]
    return Measurement(
        [
            *(Reading.of(name, "p50", "ms", values) for name, values in p50.items()),
            *(Reading.of(name, "p99", "ms", values) for name, values in p99.items()),
        ],
        [Figure.of("status.p99", above)],
    )


def _check(way: Way) -> None:
    answer = call(way, STATUS_PATH)
    status = json.loads(answer.body).get("Status") if answer.status == 200 else answer.status
    if status != 200:
        raise Broken(f"the status was answered with {status}")
