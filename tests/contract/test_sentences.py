"""The sentences about bodies that do not have the expected shape."""

import pytest

from printreach.contract.codec import BadArguments, decode_arguments, in_plain_words
from printreach.contract.commands import MoveAxis


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"Axis":"x","DistanceMm":1}', "Axis must be X, Y or Z."),
        (b'{"DistanceMm":1}', "Axis is missing."),
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
