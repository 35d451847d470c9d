"""Slots are counted by key and in all."""

from printreach.limiters.slots import Slots


def test_each_key_has_its_own_limit() -> None:
    slots = Slots()

    assert [slots.take({"ada": 2}) for _ in range(3)] == [True, True, False]
    assert slots.take({"bob": 2})


def test_all_keys_together_have_a_limit() -> None:
    slots = Slots(2)

    assert [slots.take({key: 5}) for key in ("ada", "bob", "eve")] == [True, True, False]


def test_what_is_refused_counts_for_none_of_its_keys() -> None:
    slots = Slots()
    slots.take({"link": 1})

    assert not slots.take({"link": 1, "network": 1})
    assert slots.take({"network": 1})


def test_a_released_slot_is_free_again() -> None:
    slots = Slots(1)
    slots.take({"ada": 1})

    slots.release(["ada"])

    assert slots.are_free({"ada": 1})
    assert (len(slots), slots.count("ada")) == (0, 0)
