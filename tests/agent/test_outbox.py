"""Events and the memory of a print survive whatever happens to the machine."""

import asyncio
import errno
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from printreach.agent.data_dir import write_private
from printreach.agent.journal import Journal
from printreach.agent.outbox import FILE, MAX_EVENTS, TRY_AGAIN_S, Outbox
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import State
from printreach.rules.prints import PrintMemory, TrackedPrint
from tests.agent.snapshots import HandClock
from tests.fakes.events import an_event, some_events

TRACKED = TrackedPrint(
    print_id="print",
    started_at=7,
    file_name="ä.gcode",
    is_under_way=True,
    memory=PrintMemory(state=State.PAUSED, is_paused=True, decile=3, errors={"Too hot": 1.5}),
)


def put(outbox: Outbox, *events: PrintEvent, tracked: TrackedPrint = TRACKED) -> None:
    outbox.put(tracked, events)
    asyncio.run(outbox.save())


def outbox_in(folder: Path, clock: HandClock | None = None) -> Outbox:
    return Outbox(folder, clock or HandClock())


def ids(outbox: Outbox) -> list[str]:
    return [event.event_id for event in outbox.batch(10_000)]


class FullDisk:
    """Takes so many more bytes, and then none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        self._write = os.write
        monkeypatch.setattr("printreach.agent.journal.os.write", self)
        monkeypatch.setattr("printreach.agent.journal.write_private", self.replace)

    def __call__(self, file: int, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self._write(file, data[: self.room])
        self.room -= taken
        return taken

    def replace(self, path: Path, content: bytes, *, durable: bool) -> None:
        if self.room < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_private(path, content, durable=durable)


def test_what_was_put_is_there_after_a_restart(tmp_path: Path) -> None:
    put(outbox_in(tmp_path), *some_events(3))

    again = outbox_in(tmp_path)

    assert again.tracked == TRACKED
    assert again.batch(10) == some_events(3)


def test_what_was_acknowledged_is_not(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    put(outbox, *some_events(3))
    outbox.acknowledged(["event-0002", "never heard of"])
    asyncio.run(outbox.save())

    assert ids(outbox) == ids(outbox_in(tmp_path)) == ["event-0001", "event-0003"]


def test_an_acknowledgement_that_was_lost_only_costs_a_repeat(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    put(outbox, an_event())
    outbox.acknowledged(["event-0001"])

    assert ids(outbox) == []
    assert ids(outbox_in(tmp_path)) == ["event-0001"]


def test_nothing_may_be_sent_before_it_is_on_the_disk(tmp_path: Path) -> None:
    outbox, seen = outbox_in(tmp_path), []
    outbox.on_new(lambda: seen.append(ids(outbox)))
    outbox.put(TRACKED, [an_event()])
    assert (ids(outbox), seen) == ([], [])

    asyncio.run(outbox.save())

    assert seen == [["event-0001"]]


def test_a_power_cut_at_any_byte_loses_a_mark_together_with_its_events(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    put(outbox, an_event(1), tracked=TrackedPrint(print_id="one"))
    whole_before = (tmp_path / FILE).stat().st_size
    put(outbox, an_event(2), tracked=TrackedPrint(print_id="two"))
    content = (tmp_path / FILE).read_bytes()

    for cut in range(whole_before, len(content) + 1):
        (tmp_path / FILE).write_bytes(content[:cut])
        found = outbox_in(tmp_path)
        seen = (found.tracked.print_id, ids(found))
        assert seen in [("one", ["event-0001"]), ("two", ["event-0001", "event-0002"])]
        assert (seen[0] == "two") == (cut == len(content))


def test_after_a_line_was_cut_off_what_is_added_is_found_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(outbox_in(tmp_path), an_event(1))
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'0123abcd {"mark":')
    put(outbox_in(tmp_path), an_event(2))

    assert "damaged" in caplog.text
    assert ids(outbox_in(tmp_path)) == ["event-0001", "event-0002"]


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_dying_card_makes_of_it_the_agent_starts(
    tmp_path: Path, data: st.DataObject
) -> None:
    (tmp_path / FILE).unlink(missing_ok=True)
    outbox = outbox_in(tmp_path)
    for event in some_events(4):
        put(outbox, event)
    content = bytearray((tmp_path / FILE).read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at : at + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    (tmp_path / FILE).write_bytes(content)

    assert len(ids(outbox_in(tmp_path))) >= 2  # a line, or two that have become one


@pytest.mark.parametrize("content", [b"\x00" * 4096, b"\n" * 100, b"{}", os.urandom(4096)])
def test_a_file_of_something_else_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    (tmp_path / FILE).chmod(0o600)
    put(outbox_in(tmp_path), an_event())

    assert ids(outbox_in(tmp_path)) == ["event-0001"]


def test_a_file_that_others_may_read_is_not_trusted(tmp_path: Path) -> None:
    put(outbox_in(tmp_path), an_event(1))
    (tmp_path / FILE).chmod(0o644)
    put(outbox_in(tmp_path), an_event(2))

    assert ids(outbox_in(tmp_path)) == ["event-0002"]


@pytest.mark.parametrize("room", [0, 1, 40])
def test_on_a_full_disk_events_leave_all_the_same_and_are_written_later(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    room: int,
) -> None:
    clock = HandClock()
    outbox = outbox_in(tmp_path, clock)
    put(outbox, an_event(1))
    disk = FullDisk(monkeypatch, room)
    put(outbox, an_event(2))
    put(outbox, an_event(3))
    assert ids(outbox) == ["event-0001", "event-0002", "event-0003"]
    assert caplog.text.count("can't be written to disk") == 1

    disk.room = 1_000_000
    assert ids(outbox_in(tmp_path)) == ["event-0001"]
    clock.at += TRY_AGAIN_S
    asyncio.run(outbox.save())

    assert ids(outbox_in(tmp_path)) == ["event-0001", "event-0002", "event-0003"]


def test_of_too_many_the_oldest_progress_goes_first(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = outbox_in(tmp_path)
    progress = [an_event(number, EventType.PROGRESS) for number in range(2, 7)]
    put(outbox, an_event(1), *progress, *some_events(MAX_EVENTS - 3, first=7))

    assert len(outbox) == MAX_EVENTS
    assert ids(outbox)[:3] == ["event-0001", "event-0005", "event-0006"]
    assert "dropped" in caplog.text
    assert len(outbox_in(tmp_path)) == MAX_EVENTS


def test_of_too_many_without_any_progress_the_oldest_go(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    put(outbox, *some_events(MAX_EVENTS + 2))

    assert ids(outbox)[0] == "event-0003"


def test_the_file_stays_small_however_much_passes_through_it(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    for first in range(0, 30_000, 500):
        events = some_events(500, first)
        put(outbox, *events)
        outbox.acknowledged([event.event_id for event in events])
        asyncio.run(outbox.save())

    assert (tmp_path / FILE).stat().st_size < 1_000_000
    assert outbox_in(tmp_path).tracked == TRACKED
    assert len(outbox_in(tmp_path)) == 0


def test_what_nobody_owned_is_forgotten_and_the_print_is_not(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    put(outbox, an_event(1))
    outbox.put(TRACKED, [an_event(2)])
    outbox.clear()
    asyncio.run(outbox.save())

    again = outbox_in(tmp_path)
    assert (ids(outbox), ids(again), again.tracked) == ([], [], TRACKED)


def test_what_nobody_owned_is_forgotten_also_where_it_is_being_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = outbox_in(tmp_path)
    add = Journal.add

    def losing_the_owner(journal: Journal, record: bytes, *, durable: bool) -> None:
        outbox.clear()
        add(journal, record, durable=durable)

    monkeypatch.setattr(Journal, "add", losing_the_owner)
    put(outbox, an_event(1))
    asyncio.run(outbox.save())

    again = outbox_in(tmp_path)
    assert (ids(outbox), ids(again), again.tracked) == ([], [], TRACKED)


def test_nothing_may_be_sent_while_it_is_being_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, seen = outbox_in(tmp_path), list[list[str]]()
    put(outbox, an_event(1))
    add = Journal.add

    def looking(journal: Journal, record: bytes, *, durable: bool) -> None:
        seen.append(ids(outbox))
        add(journal, record, durable=durable)

    monkeypatch.setattr(Journal, "add", looking)
    put(outbox, an_event(2))

    assert seen == [["event-0001"]]
    assert ids(outbox) == ["event-0001", "event-0002"]


def test_a_record_is_never_cut_in_two_by_what_is_in_it(tmp_path: Path) -> None:
    lines = Journal(tmp_path / "j")
    lines.add(b'{"a": "\\n"}', durable=True)

    assert Journal(tmp_path / "j").read() == [b'{"a": "\\n"}']
