"""The log of the agent and the service: who says something that is logged writes no line of it."""

import io
import json
import logging
from datetime import UTC, datetime

from printreach.agent.log_lines import (
    LINES_OF_STATEMENT,
    TRACEBACKS_OF_STATEMENT,
    AgentLog,
    FloodFilter,
    JsonFormatter,
    LineFormatter,
)
from printreach.http1.request_ids import REQUEST_ID

FORGED = "x\n2026-11-22T06:00:00+0000 INFO printreach.operator account made\r\x1b[31m"
START = datetime(2026, 11, 22, 5, tzinfo=UTC).timestamp()


def record(
    message: str = "said %s",
    *said: object,
    at_s: float = 0.0,
    level: int = logging.INFO,
    line: int = 1,
    failure: Exception | None = None,
) -> logging.LogRecord:
    """A record as a log statement makes it."""
    error = (type(failure), failure, None) if failure else None
    made = logging.LogRecord("printreach.web", level, "web.py", line, message, said, error)
    made.created = START + at_s
    return made


def written(*records: logging.LogRecord) -> list[str]:
    """The lines of a log that gets these records."""
    file = io.StringIO()
    handler = logging.StreamHandler(file)
    handler.setFormatter(LineFormatter())
    handler.addFilter(FloodFilter())
    for one in records:
        handler.handle(one)
    return file.getvalue().splitlines()


def test_what_is_said_in_a_message_stays_within_its_line() -> None:
    [line] = written(record("said %s", FORGED))

    assert "INFO printreach.web said x\\n2026-11-22" in line
    assert "\x1b" not in line


def test_as_json_each_record_is_one_object_in_one_line_of_ascii() -> None:
    line = JsonFormatter().format(record("said %s", FORGED + "é", failure=ValueError(FORGED)))

    said = json.loads(line)
    assert line.isascii()
    assert line.isprintable()
    assert said.pop("exception").endswith(FORGED)
    assert said == {
        "time": "2026-11-22T05:00:00.000+00:00",
        "level": "INFO",
        "logger": "printreach.web",
        "message": f"said {FORGED}é",
    }


def test_the_id_of_a_request_is_told_of_what_was_logged_about_it() -> None:
    about_one = record("said %s", "no")
    about_one.request_id = "0af7651916cd43dd"

    assert written(about_one)[0].endswith("said no [request 0af7651916cd43dd]")
    assert json.loads(JsonFormatter().format(about_one))["request"] == "0af7651916cd43dd"


def test_what_a_task_logs_has_the_id_of_the_request_that_it_serves() -> None:
    before = REQUEST_ID.set("5e0c8f1c7f0b4a3e")
    try:
        served = json.loads(JsonFormatter().format(record("said %s", "no")))
    finally:
        REQUEST_ID.reset(before)

    assert served["request"] == "5e0c8f1c7f0b4a3e"
    assert "request" not in json.loads(JsonFormatter().format(record("said %s", "no")))


def test_what_an_exception_says_begins_no_line() -> None:
    lines = written(record(failure=ValueError(FORGED)))

    assert len(lines) > 1
    assert all(line.startswith("    ") for line in lines[1:])
    assert not any("\x1b" in line for line in lines)


def test_the_name_of_a_logger_forges_nothing_either() -> None:
    one = record()
    one.name = FORGED

    assert len(written(one)) == 1


def test_a_text_of_several_lines_follows_its_record_indented() -> None:
    one = record("mail for %s", "ada@example.org")
    one.block = f"Hello Ada\n\nhttps://printreach.example/confirm?token=t\n{FORGED}"
    lines = written(one)

    assert lines[3] == "    https://printreach.example/confirm?token=t"
    assert all(line.startswith("    ") for line in lines[1:])


def test_the_log_that_an_agent_hands_out_holds_no_forged_line() -> None:
    log = AgentLog()
    log.handle(record("the service said %s", FORGED))

    assert log.text().count(b"\n") == 1
    assert b"\x1b" not in log.text()


def test_a_statement_that_floods_the_log_is_cut_short_and_says_so() -> None:
    flood = [record("said %s", number) for number in range(LINES_OF_STATEMENT.at_once + 1000)]
    lines = written(*flood, record("said %s", "later", at_s=60))

    assert len(lines) == LINES_OF_STATEMENT.at_once + 1
    assert lines[-1].endswith("said later (1000 more like it were left out)")


def test_tracebacks_that_flood_the_log_are_cut_short_earlier() -> None:
    flood = [record(failure=ValueError("no")) for _ in range(1000)]
    begun = [line for line in written(*flood) if not line.startswith("    ")]

    assert len(begun) == TRACEBACKS_OF_STATEMENT.at_once


def test_a_flood_of_one_statement_hides_no_other() -> None:
    flood = [record("said %s", number) for number in range(10_000)]
    lines = written(*flood, record("account %s made", "ada", line=2))

    assert lines[-1].endswith("account ada made")


def test_mails_that_are_nowhere_else_are_never_left_out() -> None:
    mails = [record("mail for %s", number) for number in range(2000)]
    for mail in mails:
        mail.block = "text"

    assert len(written(*mails)) == 4000


def test_a_clock_that_is_set_back_silences_nothing() -> None:
    early, late = record("said %s", 1, at_s=86_400), record("said %s", 2)

    assert len(written(early, late)) == 2
