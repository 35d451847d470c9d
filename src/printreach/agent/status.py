"""The agent's status for programs of this machine: a file, and lines on standard output.

`status.json` in the data directory is read by `agent status`. For scripts one JSON line is written
for each event. A reader, even one that has stopped reading, never delays or ends the agent: a line
that cannot be written at once is dropped.
"""

import logging
import math
import os
import select
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from printreach.agent.data_dir import DataDirRefused, is_locked, read_private, write_private
from printreach.agent.state import ShownLinkCode, Snapshot, phase_sentence
from printreach.contract.codec import BAD_JSON

STATUS_FILE: Final = "status.json"

_MAX_STATUS_BYTES: Final = 64 * 1024
_log: Final = logging.getLogger(__name__)

Report = Mapping[str, str | int | float | bool]


class StatusFile:
    """Keeps the file equal to the agent's state. An observer of AgentState."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / STATUS_FILE
        self._has_failed = False

    def __call__(self, snapshot: Snapshot) -> None:
        """Write the snapshot. A full or read-only disk is logged once and ends nothing."""
        try:
            write_private(self._path, msgspec.json.encode(snapshot) + b"\n", durable=False)
        except OSError as error:
            if not self._has_failed:
                _log.warning("%s cannot be written: %s", self._path, error.strerror)
            self._has_failed = True
        else:
            self._has_failed = False

    def remove(self) -> None:
        """Remove the file when the agent ends."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be removed: %s", self._path, error.strerror)


class NotRunning(Exception):
    """No agent runs on the folder; the message is a sentence."""


def read_status(data_dir: Path) -> Snapshot:
    """Return the state of the agent that runs on the folder.

    Raises NotRunning, and DataDirRefused when the folder or the file is not as an agent has it.
    """
    if not is_locked(data_dir):
        raise NotRunning(f"No agent runs with the data directory {data_dir}.")
    path = data_dir / STATUS_FILE
    content = read_private(path, at_most=_MAX_STATUS_BYTES)
    if content is None:
        raise NotRunning(f"The agent with the data directory {data_dir} is just starting.")
    try:
        return msgspec.json.decode(content, type=Snapshot)
    except BAD_JSON as error:
        raise DataDirRefused(
            f"The file {path} was written by another version of the agent."
        ) from error


def report(snapshot: Snapshot, at: float) -> Report:
    """Return the snapshot as `agent status --json` prints it: durations instead of instants.

    at: monotonic seconds now, of the same machine since the same start.
    """
    entries: dict[str, str | int | float | bool | None] = {
        "Running": True,
        "Phase": snapshot.phase.value,
        "SinceSec": _whole_seconds(at - snapshot.phase_since),
        "IsLinked": snapshot.is_linked,
        "PrinterId": snapshot.printer_id,
        "PrinterName": snapshot.printer_name,
        "ServiceUrl": snapshot.service_url,
        **_report_link_code(snapshot.live_link_code(at), at),
        "RetryInSec": None if snapshot.retry_at is None else _whole_seconds(snapshot.retry_at - at),
        "LastError": snapshot.last_error,
        "LanAddress": snapshot.lan_address,
        "LanPage": snapshot.lan_page,
        "ClockOffsetSec": snapshot.clock_offset_s,
        "AgentVersion": snapshot.agent_version,
    }
    return {name: value for name, value in entries.items() if value is not None}


def describe(snapshot: Snapshot, at: float) -> str:
    """Return the snapshot for a person at a terminal, in several lines."""
    rows = [
        ("Printer", f"{snapshot.printer_name} ({snapshot.printer_id})".strip()),
        ("Service", snapshot.service_url),
        *_link_rows(snapshot, at),
        *([("Error", snapshot.last_error)] if snapshot.last_error else []),
        *([("LAN page", f"http://{snapshot.lan_page}/")] if snapshot.lan_page else []),
        ("Version", snapshot.agent_version),
    ]
    lines = [phase_sentence(snapshot.phase), *(f"{name:<10}{value}" for name, value in rows)]
    return "\n".join(lines)


def _report_link_code(shown: ShownLinkCode | None, at: float) -> dict[str, str | int]:
    if shown is None:
        return {}
    return {
        "LinkCode": shown.code,
        "LinkUrl": shown.link_url,
        "ExpiresInSec": _whole_seconds(shown.expires_at - at),
    }


def _link_rows(snapshot: Snapshot, at: float) -> list[tuple[str, str]]:
    link_code = snapshot.live_link_code(at)
    if link_code is None:
        return []
    left_s = _whole_seconds(link_code.expires_at - at)
    return [("Link code", f"{link_code.code}, valid for {left_s} s"), ("", link_code.link_url)]


def _whole_seconds(seconds: float) -> int:
    return max(0, int(seconds))


class Announcer:
    """Writes the events of the agent to an open file. Nothing here raises.

    file: a file descriptor, standard output's as a rule; None when there is none.
    """

    def __init__(self, file: int | None) -> None:
        self._file = file

    def link_code(self, shown: ShownLinkCode, at: float) -> None:
        """Report that the agent is not linked, and the code that links it at the service.

        at: monotonic seconds now.
        """
        whole_s = max(0, math.floor(shown.expires_at - at))
        _log.info("Link code %s, valid for %d s: %s", shown.code, whole_s, shown.link_url)
        self._write(
            {
                "event": "link-code",
                "LinkCode": shown.code,
                "LinkUrl": shown.link_url,
                "ExpiresInSec": whole_s,
            }
        )

    def linked(self, printer_id: str) -> None:
        """Report that the agent was linked to an account."""
        _log.info("Linked as printer %s", printer_id)
        self._write({"event": "linked", "PrinterId": printer_id})

    def connected(self) -> None:
        """Report that the tunnel is open and carries requests."""
        _log.info("Connected")
        self._write({"event": "connected"})

    def disconnected(self, retry_in_s: float) -> None:
        """Report that the tunnel is closed; the agent reconnects by itself."""
        whole_s = max(0, math.ceil(retry_in_s))
        _log.info("Disconnected, trying again in %d s", whole_s)
        self._write({"event": "disconnected", "RetryInSec": whole_s})

    def _write(self, event: dict[str, str | int]) -> None:
        if self._file is None:
            return
        line = msgspec.json.encode(event) + b"\n"
        try:
            if not _takes_a_line(self._file):
                _log.warning("Standard output is not read: a line was dropped")
                return
            # A line is shorter than what a pipe takes in one piece, so none is ever torn.
            os.write(self._file, line)
        except OSError:
            _log.warning("Standard output is closed: no more lines are written")
            self._file = None


def _takes_a_line(file: int) -> bool:
    """True when a write would not wait: a full pipe would stop the whole agent."""
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    return bool(poll.poll(0))
