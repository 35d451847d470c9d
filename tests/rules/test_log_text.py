"""What callers say, as it stands in a log."""

import pytest

from printreach.rules.log_text import LONGEST_LINE, indented, one_line


def test_what_people_write_stays_as_it_is() -> None:
    text = "Käthe's printer (\N{SNOWMAN}) 速い"

    assert one_line(text) == text


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("a\nb", "a\\nb"),
        ("a\rb", "a\\rb"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u2028b", "a\\u2028b"),
        ("gnp\u202eexe", "gnp\\u202eexe"),
        ("\x00\x7f", "\\x00\\x7f"),
        ("\ud800", "\\ud800"),
    ],
)
def test_nothing_ends_a_line_or_commands_a_terminal(said: str, written: str) -> None:
    assert one_line(said) == written


def test_a_line_has_a_longest_length() -> None:
    assert len(one_line("a" * 1_000_000)) < LONGEST_LINE + 20


def test_no_line_of_a_text_begins_where_a_record_begins() -> None:
    assert indented("one\n2026-11-22 INFO two\r\n") == "    one\n    2026-11-22 INFO two"
