"""The announcements that scripts wait for."""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.agent.state import ShownLinkCode
from printreach.agent.status import Announcer

CODE = ShownLinkCode(
    code="ACDEFG34", link_url="https://printreach.example/link?code=ACDEFG34", expires_at=700.0
)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The reading and the writing end of a small pipe."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 8192)
    yield reader, writer
    for end in (reader, writer):
        try:
            os.close(end)
        except OSError:
            pass  # closed by the test


def test_every_event_is_one_line_of_json_as_scripts_know_it(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    announce = Announcer(writer)

    announce.link_code(CODE, at=100.0)
    announce.linked("a" * 32)
    announce.connected()
    announce.disconnected(2.0)

    assert os.read(reader, 8192).decode().splitlines() == [
        '{"event":"link-code","LinkCode":"ACDEFG34",'
        '"LinkUrl":"https://printreach.example/link?code=ACDEFG34","ExpiresInSec":600}',
        '{"event":"linked","PrinterId":"' + "a" * 32 + '"}',
        '{"event":"connected"}',
        '{"event":"disconnected","RetryInSec":2}',
    ]


def test_durations_are_whole_seconds_and_promise_nothing_too_early(
    pipe: tuple[int, int],
) -> None:
    reader, writer = pipe
    announce = Announcer(writer)

    announce.link_code(CODE, at=100.4)
    announce.link_code(CODE, at=900.0)
    announce.disconnected(0.3)

    code, expired, disconnected = map(json.loads, os.read(reader, 8192).splitlines())
    assert code["ExpiresInSec"] == 599
    assert expired["ExpiresInSec"] == 0
    assert disconnected["RetryInSec"] == 1


def test_a_reader_that_went_away_ends_nothing(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.close(reader)
    announce = Announcer(writer)

    announce.connected()
    announce.connected()


def test_a_reader_that_stopped_reading_holds_up_nothing(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    announce = Announcer(writer)

    for _ in range(1000):
        announce.connected()

    os.read(reader, 8192)
    announce.linked("late")
    assert b"late" in os.read(reader, 8192)


def test_what_a_slow_reader_gets_is_whole_lines(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    announce = Announcer(writer)

    for _ in range(1000):
        announce.linked("a" * 32)

    lines = os.read(reader, 65536).splitlines()
    assert lines
    assert {json.loads(line)["PrinterId"] for line in lines} == {"a" * 32}


def test_a_full_disk_ends_nothing() -> None:
    with Path("/dev/full").open("wb") as full:
        Announcer(full.fileno()).connected()


def test_without_standard_output_nothing_is_written() -> None:
    Announcer(None).connected()


def test_the_link_code_is_in_the_log_for_people(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    Announcer(None).link_code(CODE, at=100.0)

    assert caplog.messages == [
        "Link code ACDEFG34, valid for 600 s: https://printreach.example/link?code=ACDEFG34"
    ]
