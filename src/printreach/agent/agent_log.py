"""The agent's latest log lines, kept for `GET /logs/agent`."""

import logging
from collections import deque
from typing import Final

MAX_LINES: Final = 2000
_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"


class AgentLog(logging.Handler):
    """Keeps lines in memory; the oldest fall out."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter(_FORMAT, "%Y-%m-%dT%H:%M:%S%z"))
        self._lines: deque[str] = deque(maxlen=MAX_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record)[:2000])

    def text(self) -> bytes:
        return ("\n".join(self._lines) + "\n").encode("utf-8", "replace")
