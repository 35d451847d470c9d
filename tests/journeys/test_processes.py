"""`serve --processes N`: nodes that share one address, on the database of one machine."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer, fresh_key
from tests.rigs.calls import call
from tests.rigs.programs import Program
from tests.rigs.service import Service, printreach, service_on_localhost
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

COUNT = 3
ENOUGH = 24
"""Calls on connections of their own: all to one of three processes once in 10^11 runs."""


def several(*words: str | Path) -> list[str]:
    return printreach(*words, "--processes", str(COUNT))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service_on_localhost(tmp_path_factory.mktemp("processes"), command=several) as service:
        yield service


@pytest.fixture(scope="module")
def behaviour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BehaviourPrinter]:
    with behaviour_printer(tmp_path_factory.mktemp("behaviour")) as printer:
        yield printer


@pytest.fixture(scope="module")
def way(running: Service, behaviour: BehaviourPrinter) -> Iterator[Way]:
    with running.printer("behaviour", behaviour.url) as linked:
        yield running.way(running.connect(linked))


def _wait_ready(program: Program) -> None:
    program.wait_until("ready line", lambda: "ready {" in program.stdout())


def nodes_of(program: Program) -> list[psutil.Process]:
    return [one for one in psutil.Process(program.pid).children() if one.is_running()]


def statuses(way: Way) -> list[int]:
    return [call(way, f"/sink?key={fresh_key()}", method="POST").status for _ in range(ENOUGH)]


def test_each_of_them_reaches_the_printer(running: Service, way: Way) -> None:
    assert statuses(way) == [200] * ENOUGH
    assert len(nodes_of(running.program)) == COUNT


def test_there_is_one_ready_line(running: Service) -> None:
    assert running.program.stdout().count("ready {") == 1


def test_one_that_is_killed_is_started_again(running: Service, way: Way) -> None:
    before = {one.pid for one in nodes_of(running.program)}
    os.kill(min(before), signal.SIGKILL)

    def is_replaced() -> bool:
        now = {one.pid for one in nodes_of(running.program)}
        return len(now) == COUNT and now != before

    wait_for("another process", is_replaced, TIMEOUT_S)
    wait_for("the printer's answer", lambda: set(statuses(way)) == {200}, TIMEOUT_S)


def test_a_stop_ends_all_of_them(tmp_path: Path) -> None:
    with service_on_localhost(tmp_path, command=several) as service:
        pids = [one.pid for one in nodes_of(service.program)]
        begun_at = time.monotonic()
        service.program.ask_to_end()
        service.program.wait_until("its end", lambda: not service.program.is_running)

        assert not any(map(psutil.pid_exists, pids))
        assert time.monotonic() - begun_at < TIMEOUT_S


def test_what_keeps_the_first_from_starting_is_said_once(tmp_path: Path) -> None:
    env = {
        "PRINTREACH_DATA_DIR": str(tmp_path / "data"),
        "PRINTREACH_LISTEN": "127.0.0.1:0",
        "PRINTREACH_SNAPSHOTS_URL": "",
    }
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / "service.key").write_text("damaged")
    with Program("damaged", several("serve"), logs=tmp_path, env=env) as program:
        wait_for("its end", lambda: not program.is_running, TIMEOUT_S)

        assert program.log_tail().count("is damaged") == 1


def test_detector_nodes_share_an_address_and_workers_need_none(tmp_path: Path) -> None:
    env = {
        "PRINTREACH_DATA_DIR": str(tmp_path / "data"),
        "PRINTREACH_LISTEN": "127.0.0.1:0",
        "PRINTREACH_DETECTOR_TOKEN": "0123456789abcdef0123456789abcdef",
    }
    for role in ("detector", "worker"):
        words = several("serve", "--role", role)
        with Program(role, words, logs=tmp_path, env=env) as program:
            _wait_ready(program)
