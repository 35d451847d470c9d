"""The sentences about bodies that do not have the expected shape."""

import pytest

from printreach.contract.codec import (
    BadArguments,
    canonical_arguments,
    decode_arguments,
    in_plain_words,
)
from printreach.contract.commands import MoveAxis, Pause


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"Axis":"x","DistanceMm":1}', "Axis must be X, Y or Z."),
        (b'{"DistanceMm":1}', "Axis is missing in the JSON."),
    ],
)
def test_a_wrong_argument_is_told_with_the_texts_to_choose_from(body: bytes, sentence: str) -> None:
    with pytest.raises(BadArguments) as refused:
        decode_arguments(body, MoveAxis)

    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        ("Expected `int` >= 1", "expected a whole number of at least 1"),
        ("Expected `int | null`, got `str`", "expected a whole number or null, got a text"),
        ("Expected `str` of length <= 9", "expected a text of at most 9 characters"),
        ("Expected `array` of length >= 2", "expected a list of at least 2 entries"),
        ("Expected `object`, got `array`", "expected an object, got a list"),
        ("Expected `float` < 7.5", "expected a number of less than 7.5"),
        ("Integer value out of range", "integer value out of range"),
    ],
)
def test_a_finding_on_a_value_is_told_in_plain_words(finding: str, words: str) -> None:
    assert in_plain_words(finding) == words


@pytest.mark.parametrize("written", [b"5", b"5.0", b"5e0", b"50E-1"])
def test_a_whole_number_may_be_written_with_a_fraction(written: bytes) -> None:
    body = b'{"ZLiftMm":' + written + b"}"

    assert decode_arguments(body, Pause).z_lift_mm == 5
    assert canonical_arguments(body) == b'{"ZLiftMm":5}'


@pytest.mark.parametrize("written", [b"5.5", b"1e300", b"1e999", b'"5"', b"true"])
def test_what_is_no_whole_number_is_refused(written: bytes) -> None:
    with pytest.raises(BadArguments):
        decode_arguments(b'{"ZLiftMm":' + written + b"}", Pause)


def test_a_byte_order_mark_may_stand_before_the_json() -> None:
    assert decode_arguments(b'\xef\xbb\xbf{"ZLiftMm":5}', Pause).z_lift_mm == 5
