"""What is said of a body that is not what was asked for."""

import pytest

from printreach.contract.codec import BadArguments, decode_arguments
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
