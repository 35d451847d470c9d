"""Prints to measure by, drawn."""

from itertools import islice

import pytest

from training.sequences import LENGTH, rendered


@pytest.mark.slow
def test_rendered_prints_are_of_one_length_and_say_when_they_fail() -> None:
    (story,) = islice(rendered(), 1)

    assert (story.name, story.onset, len(story.pictures)) == ("rendered: good", LENGTH, LENGTH)
