"""Failures that two readers don't both see neither teach nor judge."""

import pytest

from training.labels import Label, agreed, kappa, read_labels

V, N, U = Label.VISIBLE, Label.NOT, Label.UNSURE


@pytest.mark.parametrize(
    ("first", "second", "both"), [(V, V, V), (N, N, N), (V, N, U), (N, V, U), (U, V, U)]
)
def test_where_readers_differ_nobody_can_tell(first: Label, second: Label, both: Label) -> None:
    assert agreed(first, second) is both


def test_readers_who_agree_on_all_have_a_kappa_of_one() -> None:
    assert kappa([(V, V), (N, N), (U, U)]) == 1


def test_readers_who_agree_as_often_as_by_chance_have_a_kappa_of_zero() -> None:
    assert kappa([(V, V), (V, N), (N, V), (N, N)]) == 0


def test_each_photo_that_was_read_has_both_labels() -> None:
    labels = read_labels()

    assert len(labels) == 335
    assert sum("/failed/" in photo for photo in labels) == 275
    assert {label for both in labels.values() for label in both} == set(Label)


def test_the_readers_agree_as_often_as_the_model_card_says() -> None:
    assert kappa(list(read_labels().values())) == pytest.approx(0.87, abs=0.005)
