"""Text from callers, as it stands in a log."""

import pytest

from printreach.rules.safe_text import LONGEST_LINE, indented, one_line, printable, readable


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


def test_each_character_that_cannot_be_printed_gives_way_to_another() -> None:
    said = "a\n\x1bb\u202e"

    assert (printable(said), printable(said, "?"), printable(said, "")) == ("a  b ", "a??b?", "ab")


def test_a_text_of_an_event_is_cut_and_can_be_sent_on() -> None:
    assert readable(" \ud800\tPLA 2", at_most=6) == "? PLA"
