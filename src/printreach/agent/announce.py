"""Announcements for scripts: one JSON line for each event on standard output.

A reader, even one that has stopped reading, never delays or ends the agent: a line that cannot be
written at once is dropped.
"""

import logging
import math
import os
import select
from typing import Final

import msgspec

from printreach.agent.state import ShownLinkCode

_log: Final = logging.getLogger(__name__)


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
                _log.warning("Nobody reads standard output: a line was dropped")
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
