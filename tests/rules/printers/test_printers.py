"""A printer counts as online while its node reports."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from printreach.rules.printers import (
    MAX_NAME_LENGTH,
    Printer,
    free_name,
    is_online,
    parse_printer_name,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
CONNECTED = Printer(
    printer_id="p1",
    account_id="ada",
    name="Workshop",
    public_key=b"k" * 32,
    linked_at=NOON,
    node_id="n1",
    connected_at=NOON,
)


def test_a_printer_is_online_while_its_node_gives_signs_of_life() -> None:
    assert is_online(CONNECTED, NOON, NOON + timedelta(seconds=29))


def test_a_printer_whose_node_fell_silent_is_offline_after_30_s() -> None:
    assert not is_online(CONNECTED, NOON, NOON + timedelta(seconds=30))


def test_a_printer_without_a_tunnel_is_offline() -> None:
    assert not is_online(replace(CONNECTED, node_id=None), NOON, NOON)


def test_a_printer_at_a_node_that_was_never_heard_of_is_offline() -> None:
    assert not is_online(CONNECTED, None, NOON)


@pytest.mark.parametrize("typed", ["", "   ", "x" * 61, "a\nb"])
def test_what_cannot_be_a_printers_name_is_refused(typed: str) -> None:
    assert parse_printer_name(typed) is None


def test_a_printers_name_loses_the_blanks_around_it() -> None:
    assert parse_printer_name("  Prüßa left ") == "Prüßa left"


@pytest.mark.parametrize(
    ("taken", "named"),
    [
        ([], "Prusa MK4"),
        (["Prusa MK4"], "Prusa MK4 2"),
        (["prusa mk4"], "Prusa MK4 2"),
        (["Prusa MK4", "Prusa MK4 2", "Prusa MK4 4"], "Prusa MK4 3"),
    ],
)
def test_a_name_that_another_printer_has_gets_a_number(taken: list[str], named: str) -> None:
    assert free_name("Prusa MK4", taken) == named


def test_a_name_of_the_greatest_length_is_cut_for_its_number() -> None:
    longest = "x" * MAX_NAME_LENGTH
    named = free_name(longest, [longest])

    assert named == "x" * (MAX_NAME_LENGTH - 2) + " 2"
    assert parse_printer_name(named) == named
