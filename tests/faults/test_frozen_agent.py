"""An agent that stops without a word: its machine sleeps, swaps, or is being debugged."""

import threading
import time
from collections.abc import Iterator
from http.client import IncompleteRead

import pytest

from tests.faults.attempts import attempt, background, undisturbed
from tests.faults.homes import Home
from tests.rigs.behaviour.pattern import BLOCK, blocks, pattern
from tests.rigs.behaviour.rig import EchoedRequest, fresh_key
from tests.rigs.calls import opened
from tests.rigs.standstills import standstills
from tests.rigs.waiting import TIMEOUT_S

pytestmark = [pytest.mark.slow, pytest.mark.fault]

NOTICED_WITHIN_S = 15.0
"""Ten by the rule, as tests/tunnel/test_silence.py holds it to; and what a busy machine adds."""
SHORT_S = 1.5  # nobody gives an agent up for that, even if the machine stands still besides
UPLOAD = 16 << 20
DOWNLOAD = 256 << 20  # far more than all the buffers on the way hold
PART = 1 << 20
LONG_S = 6.0  # the agent itself takes that for sleep


def test_everybody_hears_602_within_ten_seconds_and_other_printers_go_on(
    victim: Home, bystander: Home
) -> None:
    key = fresh_key()
    with (
        background() as running,
        undisturbed(bystander),
        victim.reconnecting(),
        standstills() as still,
    ):
        waiting = running.attempt(victim.way, f"/silent?key={key}")
        victim.printer.wait_for(key, "began")
        with victim.frozen():
            frozen_at = time.monotonic()
            new = running.attempt(victim.way, "/echo")

            assert waiting.result().status == 602
            assert new.result().status == 602
            assert still.running_s(frozen_at) < NOTICED_WITHIN_S


def test_what_waited_for_a_frozen_agent_never_happens(victim: Home) -> None:
    began, posted = fresh_key(), fresh_key()
    with background() as running, victim.reconnecting():
        waiting = running.attempt(victim.way, f"/silent?key={began}")
        victim.printer.wait_for(began, "began")
        with victim.frozen():
            target = f"/sink?key={posted}"
            stale = running.attempt(victim.way, target, method="POST", body=b"print it")
            assert (waiting.result().status, stale.result().status) == (602, 602)

    assert EchoedRequest.by(attempt(victim.way, "/echo").answer).target == "/echo"
    victim.printer.wait_for(began, "cancelled")
    assert victim.printer.entries(posted) == []


def test_uploads_and_downloads_under_way_break_off_and_are_never_taken_for_whole(
    victim: Home,
) -> None:
    key, length, may_go_on = fresh_key(), ("Content-Length", str(UPLOAD)), threading.Event()

    def body_with_a_pause() -> Iterator[bytes]:
        for number, block in enumerate(blocks(UPLOAD)):
            if number * BLOCK == UPLOAD // 2:
                may_go_on.wait(TIMEOUT_S)
            yield block

    with (
        background() as running,
        victim.reconnecting(),
        opened(victim.way, f"/file?size={DOWNLOAD}") as downloading,
    ):
        assert downloading.read(PART) == pattern(PART)
        target = f"/sink?key={key}"
        uploading = running.attempt(
            victim.way, target, method="POST", headers=[length], body=body_with_a_pause()
        )
        victim.printer.wait_for(key, "received")
        with victim.frozen():
            may_go_on.set()
            assert uploading.result().status in (602, None)  # None: it heard only the end
            with pytest.raises((ConnectionError, IncompleteRead)):
                downloading.read()

    victim.printer.wait_for(key, "cancelled")
    assert "complete" not in [entry.what for entry in victim.printer.entries(key)]


def test_an_agent_frozen_for_a_moment_answers_as_if_nothing_had_been(victim: Home) -> None:
    key, before = fresh_key(), victim.connections_so_far
    with background() as running:
        waiting = running.attempt(victim.way, f"/silent?key={key}")
        victim.printer.wait_for(key, "began")
        with victim.frozen():
            new = running.attempt(victim.way, "/echo")
            time.sleep(SHORT_S)
        assert EchoedRequest.by(new.result().answer).target == "/echo"
        victim.printer.allow_step(key)

        assert waiting.result().answer.body == b"at last"

    assert victim.connections_so_far == before


def test_an_agent_that_slept_says_why_it_connects_anew(victim: Home) -> None:
    marks = victim.agent.program.log_marks()
    with victim.reconnecting(), victim.frozen():
        time.sleep(LONG_S)

    assert "this machine was asleep" in victim.agent.program.log_since(marks)
