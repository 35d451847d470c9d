"""`status.json`, and what `agent status` makes of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.agent.data_dir import DataDirLock, DataDirRefused, write_private
from printreach.agent.state import Phase
from printreach.agent.status import NotRunning, StatusFile, describe, read_status, report
from tests.agent.snapshots import PRINTER_ID, SERVICE_URL, a_link_code, a_snapshot, a_state


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """A data directory that an agent holds."""
    lock = DataDirLock.take(tmp_path)
    assert lock is not None
    with lock:
        yield tmp_path


def test_what_the_agent_does_is_read_as_it_was_written(running: Path) -> None:
    state = a_state()
    state.observe(StatusFile(running))

    state.unlinked(a_link_code())
    state.on_lan("192.168.1.5", "192.168.1.5:8765")
    state.clock_is_off(1.5)

    assert read_status(running) == state.snapshot


def test_the_file_which_holds_a_link_code_is_for_one_user(running: Path) -> None:
    StatusFile(running)(a_snapshot(link_code=a_link_code()))

    assert (running / "status.json").stat().st_mode & 0o777 == 0o600


def test_a_file_left_by_an_agent_that_died_says_nothing(tmp_path: Path) -> None:
    StatusFile(tmp_path)(a_snapshot(phase=Phase.CONNECTED))

    with pytest.raises(NotRunning, match=f"No agent runs with the data directory {tmp_path}"):
        read_status(tmp_path)


def test_no_agent_runs_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(NotRunning):
        read_status(tmp_path / "nowhere")


def test_an_agent_that_has_written_nothing_yet_is_just_starting(running: Path) -> None:
    with pytest.raises(NotRunning, match="just starting"):
        read_status(running)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"Phase":"dancing"}', b'{"Phase":"\xff"}']
)
def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(
    running: Path, content: bytes
) -> None:
    write_private(running / "status.json", content, durable=False)

    with pytest.raises(DataDirRefused, match="another version"):
        read_status(running)


def test_a_disk_that_cannot_be_written_is_logged_once_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".status.json.new").mkdir()
    state = a_state()

    state.observe(StatusFile(tmp_path))
    state.connecting()
    state.connected()

    assert len(caplog.messages) == 1
    assert "status.json cannot be written" in caplog.messages[0]


def test_the_file_goes_with_the_agent(running: Path) -> None:
    file = StatusFile(running)
    file(a_snapshot())

    file.remove()
    file.remove()

    assert not (running / "status.json").exists()


def test_a_report_says_how_long_and_not_when() -> None:
    snapshot = a_snapshot(
        phase=Phase.UNLINKED,
        phase_since=100.0,
        link_code=a_link_code(expires_at=700.0),
        lan_address="192.168.1.5",
        lan_page="192.168.1.5:8765",
    )

    assert report(snapshot, at=160.9) == {
        "Running": True,
        "Phase": "unlinked",
        "SinceSec": 60,
        "IsLinked": False,
        "PrinterId": PRINTER_ID,
        "PrinterName": "",
        "ServiceUrl": SERVICE_URL,
        "LinkCode": "ACDEFG34",
        "LinkUrl": f"{SERVICE_URL}/link?code=ACDEFG34",
        "ExpiresInSec": 539,
        "LanAddress": "192.168.1.5",
        "LanPage": "192.168.1.5:8765",
        "AgentVersion": "1.2.3",
    }


def test_a_report_leaves_out_a_code_that_has_expired() -> None:
    assert "LinkCode" not in report(a_snapshot(link_code=a_link_code(700.0)), at=700.0)


def test_a_report_of_a_lost_connection_says_when_it_is_tried_again() -> None:
    snapshot = a_snapshot(phase=Phase.DISCONNECTED, retry_at=110.0, last_error="No answer.")

    reported = report(snapshot, at=106.0)

    assert (reported["Phase"], reported["RetryInSec"], reported["LastError"]) == (
        "disconnected",
        4,
        "No answer.",
    )
    assert report(snapshot, at=120.0)["RetryInSec"] == 0


def test_a_report_is_json_without_loss() -> None:
    reported = report(a_snapshot(clock_offset_s=-1.5), at=100.0)

    assert json.loads(json.dumps(reported)) == reported


def test_a_person_reads_the_code_and_where_to_enter_it() -> None:
    text = describe(
        a_snapshot(phase=Phase.UNLINKED, link_code=a_link_code(), lan_page="192.168.1.5:8765"),
        at=100.0,
    )

    assert text == (
        "This printer isn't linked to an account yet.\n"
        f"Printer   ({PRINTER_ID})\n"
        f"Service   {SERVICE_URL}\n"
        "Link code ACDEFG34, valid for 600 s\n"
        f"          {SERVICE_URL}/link?code=ACDEFG34\n"
        "LAN page  http://192.168.1.5:8765/\n"
        "Version   1.2.3"
    )


def test_a_person_reads_what_went_wrong() -> None:
    text = describe(
        a_snapshot(
            phase=Phase.REFUSED, printer_name="Voron", is_linked=True, last_error="Not the same."
        ),
        at=100.0,
    )

    assert f"Printer   Voron ({PRINTER_ID})\n" in text
    assert "Error     Not the same.\n" in text
    assert "Link code" not in text
