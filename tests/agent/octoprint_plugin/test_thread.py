"""The agent's thread begins and ends with the plugin, and holds nobody up."""

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.agent.octoprint_plugin.supervisor import NAME, AgentThread, Supervisor
from tests.agent.octoprint_plugin.stand_ins import Uplinks, a_config, a_machine
from tests.rigs.waiting import wait_for

TIMEOUT_S = 30.0


def agent_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def an_agent(uplinks: Uplinks, leave_within_s: float = TIMEOUT_S) -> AgentThread:
    supervisor = Supervisor(a_machine(), uplinks)
    return AgentThread(supervisor, leave_within_s=leave_within_s, cut_off_within_s=2 * TIMEOUT_S)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert agent_threads() == []


def test_it_runs_what_it_is_told_and_ends_when_it_is_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    agent = an_agent(Uplinks())
    agent.start()
    agent.use(a_config(tmp_path))
    wait_for("a state", lambda: agent.status.snapshot is not None, TIMEOUT_S)
    assert len(agent_threads()) == 1

    agent.close()

    assert agent_threads() == []
    assert "The agent has ended" in caplog.text


def test_settings_may_come_before_the_start(tmp_path: Path) -> None:
    agent = an_agent(Uplinks())
    agent.use(a_config(tmp_path))
    agent.start()

    wait_for("a state", lambda: agent.status.snapshot is not None, TIMEOUT_S)
    agent.close()


def test_an_agent_that_does_not_take_its_leave_is_cut_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent = an_agent(Uplinks(is_deaf=True), leave_within_s=0.3)
    agent.start()
    agent.use(a_config(tmp_path))
    wait_for("a state", lambda: agent.status.snapshot is not None, TIMEOUT_S)

    began = time.monotonic()
    agent.close()

    assert time.monotonic() - began < TIMEOUT_S
    assert agent_threads() == []
    assert "cut off" in caplog.text


def test_it_cannot_keep_a_process_from_ending(tmp_path: Path) -> None:
    agent = an_agent(Uplinks())
    agent.start()

    assert all(thread.daemon for thread in agent_threads())
    agent.close()


def test_closing_it_before_its_start_and_twice_does_no_harm(tmp_path: Path) -> None:
    never_started = an_agent(Uplinks())
    never_started.close()
    agent = an_agent(Uplinks())
    agent.start()

    agent.close()
    agent.close()
    agent.use(a_config(tmp_path))
    agent.forget_link()

    assert agent_threads() == []
