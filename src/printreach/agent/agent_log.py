"""The agent's latest log lines, kept for `GET /logs/agent`."""

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from printreach.agent.log_lines import LineFormatter

MAX_LINES: Final = 2000
LOGGERS: Final = ("printreach.agent", "printreach.printers")
"""The loggers whose lines callers of this printer's commands may read.

An agent in `printreach serve` shares its process with the service, whose log holds sign-in links
and addresses of accounts; so only the loggers of the agent's own code are kept, not those of code
that the service uses too.
"""


class AgentLog(logging.Handler):
    """Keeps the latest lines in memory."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(LineFormatter())
        self._lines: deque[str] = deque(maxlen=MAX_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record)[:2000])

    def text(self) -> bytes:
        return ("\n".join(self._lines) + "\n").encode("utf-8", "replace")


@contextmanager
def kept_log() -> Iterator[AgentLog]:
    """Keep the agent's log lines while this is open."""
    handler = AgentLog()
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield handler
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
