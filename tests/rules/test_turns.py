"""Whose messages are sent next: nobody is kept waiting by others who act together."""

from printreach.rules.notifications import DESTINATION_TURNS, DESTINATIONS_AT_ONCE, FAILING
from printreach.rules.notifications.channels import MAIL
from printreach.rules.turns import QueuedItem, by_turns


def destinations(account: str, count: int, *kinds: str) -> list[QueuedItem]:
    return [
        QueuedItem(key=f"{account}-{number}", account_id=account, kinds=frozenset(kinds))
        for number in range(count)
    ]


def next_items(
    under_way: list[QueuedItem], waiting: list[QueuedItem], free_slots: int
) -> list[QueuedItem]:
    return DESTINATION_TURNS.next_items(under_way, waiting, free_slots)


def accounts_of(turns: list[QueuedItem]) -> list[str]:
    return [one.account_id for one in turns]


def test_the_first_item_of_each_account_comes_before_the_second_of_any() -> None:
    waiting = [
        QueuedItem(key=key, account_id=key[0]) for key in ("a1", "a2", "a3", "b1", "c1", "b2")
    ]

    assert [one.key for one in by_turns(waiting)] == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert [one.key for one in by_turns(waiting, {"a": 1})] == ["b1", "c1", "a1", "b2", "a2", "a3"]


def test_who_had_the_last_turn_comes_last() -> None:
    waiting = [QueuedItem(key=key, account_id=key[0]) for key in ("a1", "a2", "b1", "c1", "d1")]

    turns = by_turns(waiting, {"c": 1}, last_turns=["d", "x", "a"])

    assert [one.key for one in turns] == ["b1", "d1", "a1", "c1", "a2"]


def test_an_account_alone_has_four_places_served_at_once() -> None:
    turns = next_items([], destinations("ada", 20), DESTINATIONS_AT_ONCE)

    assert turns == destinations("ada", DESTINATION_TURNS.of_account)


def test_everybodys_first_place_goes_before_anybodys_second() -> None:
    waiting = [*destinations("ada", 3), *destinations("bob", 3)]

    assert accounts_of(next_items([], waiting, 15)) == ["ada", "bob", "ada"]


def test_six_accounts_that_act_together_leave_half_of_the_room_to_others() -> None:
    six = [
        destination for number in range(6) for destination in destinations(f"hostile{number}", 20)
    ]
    begun = next_items([], six, DESTINATIONS_AT_ONCE)
    left = DESTINATIONS_AT_ONCE - len(begun)
    then = next_items(begun, [*six[24:], *destinations("ada", 1)], left)

    assert left == DESTINATIONS_AT_ONCE // 2
    assert accounts_of(then) == ["ada"]


def test_who_has_none_under_way_is_served_in_the_last_of_the_room() -> None:
    busy = [destination for number in range(23) for destination in destinations(f"a{number}", 1)]

    assert accounts_of(next_items(busy, [*destinations("a1", 3), *destinations("ada", 2)], 1)) == [
        "ada"
    ]


def test_places_that_failed_the_last_time_have_room_for_a_few() -> None:
    failing = [destination for n in range(20) for destination in destinations(f"a{n}", 1, FAILING)]
    turns = next_items([], [*failing, *destinations("ada", 1)], DESTINATIONS_AT_ONCE)

    assert sum(FAILING in one.kinds for one in turns) == DESTINATION_TURNS.of_kind[FAILING]
    assert turns[-1].account_id == "ada"


def test_mails_take_as_much_room_as_their_one_server_has() -> None:
    mails = [destination for n in range(20) for destination in destinations(f"a{n}", 1, MAIL)]
    turns = next_items([], [*mails, *destinations("ada", 1)], DESTINATIONS_AT_ONCE)

    assert sum(MAIL in one.kinds for one in turns) == DESTINATION_TURNS.of_kind[MAIL]
    assert turns[-1].account_id == "ada"


def test_who_gets_no_turn_now_is_not_even_looked_at() -> None:
    under_way = [*destinations("ada", 1), *destinations("bob", DESTINATION_TURNS.of_account)]

    assert DESTINATION_TURNS.full_accounts(under_way, DESTINATIONS_AT_ONCE - 5) == ["bob"]
    assert DESTINATION_TURNS.full_accounts(under_way, 3) == ["ada", "bob"]
