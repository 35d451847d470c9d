"""The alert rules and the dashboard in deploy/ name metrics that there are."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from printreach.detector.engine import Engine
from printreach.run.monitoring import process_metrics
from printreach.run.scoring import detector_metrics
from tests.detector.stand_in import StandIn
from tests.fakes.readiness import READY
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, relay
from tests.rigs.peers import ROOT, system_program

RULES = ROOT / "deploy/prometheus/printreach.rules.yml"
CONFIG = ROOT / "deploy/prometheus/prometheus.yml"
DASHBOARD = ROOT / "deploy/grafana/printreach.json"
_NAMED = re.compile(r"\b(?:printreach|process)_[a-z_]+\b")


def expressions(found: Any) -> list[str]:
    """Every query of a dashboard."""
    if isinstance(found, list):
        return [one for each in found for one in expressions(each)]
    if isinstance(found, dict):
        own = [found[name] for name in ("expr", "query") if isinstance(found.get(name), str)]
        return own + [one for each in found.values() for one in expressions(each)]
    return []


def series_of(text: str) -> set[str]:
    return {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line[0] != "#"}


async def series_of_a_node() -> set[str]:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(OWN, target=b"/metrics"))
        answered = series_of((await caller.answer()).body.decode())
    buckets = {f"{name}_bucket" for name in READY.histograms()}
    scoring = set(detector_metrics(Engine(StandIn().load, threads=1)))
    return answered | buckets | scoring | set(READY.metrics()) | set(process_metrics())


@on_a_loop
async def test_every_metric_that_alerts_and_dashboard_name_is_there() -> None:
    known = await series_of_a_node()
    named = set(_NAMED.findall(RULES.read_text()))
    for query in expressions(json.loads(DASHBOARD.read_text())):
        named |= set(_NAMED.findall(query))

    assert "printreach_printer_answer_seconds_bucket" in known
    assert named - known == set()
    assert len(named) > 15


@pytest.mark.slow
@pytest.mark.parametrize(("what", "path"), [("rules", RULES), ("config", CONFIG)])
def test_prometheus_takes_the_rules_and_the_example(what: str, path: Path) -> None:
    checked = subprocess.run(
        [system_program("promtool", "prometheus"), "check", what, path],
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_dashboard_shows_each_panel_once_at_its_own_place() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}

    assert len(places) == len({panel["id"] for panel in panels}) == len(panels)
