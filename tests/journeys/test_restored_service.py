"""A service that lost its disk is restored from a backup that was made while it ran."""

import shutil
from pathlib import Path

import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter
from tests.rigs.calls import call
from tests.rigs.service import service_on_localhost
from tests.rigs.straight import DIRECT, goes_straight
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = pytest.mark.slow


def test_agents_and_apps_find_a_restored_service_as_before(
    tmp_path: Path, behaviour: BehaviourPrinter
) -> None:
    if goes_straight():
        pytest.skip(f"there is no service, and {DIRECT}=1 leaves it out")
    backup = tmp_path / "backup.tar.gz"
    with (
        service_on_localhost(tmp_path) as running,
        running.printer("kept", behaviour.url) as linked,
    ):
        way = running.way(running.connect(linked))
        running.admin("database", "backup", str(backup))
        running.program.stop()
        shutil.rmtree(running.env["PRINTREACH_DATA_DIR"])
        running.admin("database", "restore", str(backup))
        before = len(linked.agent.events("connected"))
        running.program.start()
        running.wait_ready()
        wait_for(
            "the agent's return",
            lambda: len(linked.agent.events("connected")) > before,
            TIMEOUT_S,
        )

        assert call(way, "/service-command-api/status").status == 200
