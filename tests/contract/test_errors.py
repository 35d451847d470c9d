"""The table of the service's own failures."""

import pytest

from printreach.contract.errors import FAILURES, ErrorCode


def test_every_code_has_its_row_in_order() -> None:
    assert list(FAILURES) == list(ErrorCode)


def test_the_codes_are_600_to_613_without_gaps() -> None:
    assert [int(code) for code in ErrorCode] == list(range(600, 614))


@pytest.mark.parametrize("code", ErrorCode)
def test_meaning_and_remedy_are_sentences_and_the_title_is_not(code: ErrorCode) -> None:
    failure = FAILURES[code]

    assert failure.meaning.endswith(".")
    assert failure.remedy.endswith(".")
    assert not failure.title.endswith(".")


@pytest.mark.parametrize("code", ErrorCode)
def test_the_meaning_is_plain_ascii_so_that_any_log_can_hold_it(code: ErrorCode) -> None:
    assert FAILURES[code].meaning.isascii()


def test_only_failures_that_waiting_may_cure_are_temporary() -> None:
    temporary = {code for code, failure in FAILURES.items() if failure.temporary}

    assert temporary == {
        ErrorCode.UNKNOWN,
        ErrorCode.PRINTER_NOT_CONNECTED,
        ErrorCode.PRINTER_TIMED_OUT,
        ErrorCode.WEBCAM_LIMIT,
        ErrorCode.AGENT_ERROR,
        ErrorCode.NO_ACTIVE_PRINT,
    }


def test_no_text_blames_or_shouts() -> None:
    texts = " ".join(f"{row.meaning} {row.title} {row.remedy}" for row in FAILURES.values())

    for word in ("!", "Oops", "invalid", "An error occurred"):
        assert word not in texts
