"""Reading untidy JSON: what can't be read is None, and nothing raises."""

import json

import pytest
from hypothesis import given

from printreach.contract.codec import encode
from printreach.printers import loose
from tests.printers.damage import JUNK


@pytest.mark.parametrize("message", [b"", b"{", b"\xff", "pong", "[" * 100_000, "9" * 5000])
def test_what_is_no_json_is_none(message: bytes | str) -> None:
    assert loose.parsed(message) is None


def test_changes_of_changes_end_somewhere() -> None:
    endless: loose.Json = {}
    for _ in range(500):
        endless = {"inner": endless}
    many = {str(number): number for number in range(5000)}

    assert loose.merged(endless, endless) == endless
    assert len(loose.merged({}, many)) == loose.MAX_KEYS


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (1, 1.0),
        (-2.5, -2.5),
        ("21.7", 21.7),
        (" 3 ", 3.0),
        (True, None),
        (None, None),
        ("warm", None),
        ("nan", None),
        ("1e999", None),
        (float("inf"), None),
        (10**400, None),
        ([1], None),
    ],
)
def test_a_number_is_one_or_none(value: object, found: float | None) -> None:
    assert loose.number({"key": value}, "key") == found


def test_sizes_go_beyond_32_bits_and_not_below_nothing() -> None:
    assert loose.size({"size": 5_000_000_000}, "size") == 5_000_000_000
    assert loose.size({"size": -1}, "size") is None
    assert loose.count({"size": 5_000_000_000}, "size") is None


def test_a_half_character_does_not_keep_a_text_from_being_sent() -> None:
    reported = json.loads('{"name": "w\\udcfcrfel"}')

    assert loose.text(reported, "name") == "w?rfel"
    assert encode(loose.plain(reported)) == b'{"name":"w?rfel"}'


def test_what_json_cannot_say_is_passed_on_as_null() -> None:
    reported = {"nan": float("nan"), "huge": 10**400, "fine": [1, 2.5, "x", None, True]}

    assert loose.plain(reported) == {"nan": None, "huge": None, "fine": [1, 2.5, "x", None, True]}


def test_what_is_nested_without_end_is_cut() -> None:
    deep: object = "bottom"
    for _ in range(500):
        deep = {"inner": [deep]}

    assert b"bottom" not in encode(loose.plain(deep))


@given(JUNK)
def test_no_junk_raises(junk: object) -> None:
    for source in (junk, {"key": junk}):
        loose.number(source, "key")
        loose.whole(source, "key")
        loose.count(source, "key")
        loose.size(source, "key")
        loose.flag(source, "key")
        loose.items(source, "key")
        loose.obj(source, "key", "key")
        assert encode([loose.text(source, "key"), loose.plain(source)])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1d 2h 3m 4s", 93_784), ("2h5m", 7500), (" 10s ", 10), ("", None), ("soon", None)],
)
def test_a_slicers_duration_is_seconds_or_none(text: str, seconds: int | None) -> None:
    assert loose.duration_s(text) == seconds


def test_lengths_of_all_extruders_are_added_where_any_is_known() -> None:
    assert loose.length_mm([1200.5, None, -3.0, 800.0]) == 2000
    assert loose.length_mm([None]) is None
    assert loose.length_mm([1e300]) == loose.MAX_INT


def test_what_has_to_be_above_zero_is_or_is_none() -> None:
    assert loose.positive({"mm": "0.4"}, "mm") == 0.4
    assert loose.positive({"mm": 0}, "mm") is None
