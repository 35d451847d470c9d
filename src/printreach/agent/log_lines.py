"""The log format of agent and service, without forged lines and floods, and the agent's own log.

Messages contain text from callers, printers and agents. Each record is one line that begins with
its time; anything else that belongs to it, a traceback or the text of a mail, follows indented.
Control characters, which a terminal would execute, are written as escapes.
"""

import json
import logging
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from printreach.http1.request_ids import REQUEST_ID
from printreach.rules.rate_limits import Limit, TooSoon, take
from printreach.rules.safe_text import indented, one_line

LINES_OF_STATEMENT: Final = Limit(name="log line", at_once=500, every=timedelta(milliseconds=200))
"""The limit for one log statement; a fleet that reconnects at once writes as much."""
TRACEBACKS_OF_STATEMENT: Final = Limit(name="traceback", at_once=20, every=timedelta(seconds=5))

_BLOCK: Final = "block"
"""The `extra` of a record that is followed by a text of several lines."""
MAX_LINES: Final = 2000
LOGGERS: Final = ("printreach.agent", "printreach.printers")
"""The loggers whose lines callers of this printer's commands may read.

An agent in `printreach serve` shares its process with the service, whose log holds sign-in links
and addresses of accounts; so only the loggers of the agent's own code are kept, not those of code
that the service uses too.
"""


class LineFormatter(logging.Formatter):
    """Time, level, logger and message in one line, and indented what follows."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")

    def format(self, record: logging.LogRecord) -> str:
        """Write a record; the time of a record is the only thing at the start of a line."""
        request_id = _request_of(record)
        about = f" [request {request_id}]" if request_id else ""
        record.message = record.getMessage() + _left_out(record) + about
        record.asctime = self.formatTime(record, self.datefmt)
        lines = [one_line(self.formatMessage(record))]
        if record.exc_info:
            lines.append(indented(self.formatException(record.exc_info)))
        if record.stack_info:
            lines.append(indented(self.formatStack(record.stack_info)))
        if block := getattr(record, _BLOCK, ""):
            lines.append(indented(block))
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """One JSON object in each line, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage() + _left_out(record),
        }
        if request_id := _request_of(record):
            said["request"] = request_id
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            said["stack"] = self.formatStack(record.stack_info)
        if block := getattr(record, _BLOCK, ""):
            said["text"] = block
        return json.dumps(said)  # ASCII alone, so no control character comes through


class FloodFilter(logging.Filter):
    """Limits the lines of each log statement; the next line says how many were left out.

    Records with a block always pass: their content is stored nowhere else.
    """

    def __init__(self) -> None:
        super().__init__()
        self._busy_until: dict[tuple[str, int], datetime] = {}
        self._left_out: Counter[tuple[str, int]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is written."""
        if hasattr(record, _BLOCK) or record.levelno < logging.INFO:
            return True
        statement = (record.pathname, record.lineno)
        limit = TRACEBACKS_OF_STATEMENT if record.exc_info else LINES_OF_STATEMENT
        at = datetime.fromtimestamp(record.created, UTC)
        taken = take(limit, self._busy_until.get(statement), at)
        if isinstance(taken, TooSoon):
            self._left_out[statement] += 1
            return False
        self._busy_until[statement] = taken.busy_until
        record.left_out = self._left_out.pop(statement, 0)
        return True


def log_to(stream: object, level: int = logging.INFO, *, as_json: bool = False) -> None:
    """Write the log of this process there. stream: a text file."""
    handler = logging.StreamHandler(stream)  # type: ignore[call-overload]
    handler.setFormatter(JsonFormatter() if as_json else LineFormatter())
    handler.addFilter(FloodFilter())
    logging.basicConfig(handlers=[handler], level=level)
    # A log that nobody can read any more is no reason to write about it.
    logging.raiseExceptions = False


def _left_out(record: logging.LogRecord) -> str:
    count: int = getattr(record, "left_out", 0)
    return f" ({count} more like it were left out)" if count else ""


def _request_of(record: logging.LogRecord) -> str:
    """Return the id of the request that the record is about; empty for none."""
    request_id: str = getattr(record, "request_id", "") or REQUEST_ID.get()
    return request_id


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
