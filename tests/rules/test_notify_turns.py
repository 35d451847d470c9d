"""Whose messages are sent next: nobody is kept waiting by others who act together."""

from printreach.rules.notify_turns import (
    DESTINATIONS_AT_ONCE,
    DESTINATIONS_PER_ACCOUNT,
    FAILING_AT_ONCE,
    MAILS_AT_ONCE,
    QueuedDestination,
    accounts_at_limit,
    next_destinations,
)


def destinations(
    account: str, count: int, *, is_failing: bool = False, is_mail: bool = False
) -> list[QueuedDestination]:
    return [
        QueuedDestination(
            destination_id=f"{account}-{number}",
            account_id=account,
            is_failing=is_failing,
            is_mail=is_mail,
        )
        for number in range(count)
    ]


def accounts_of(turns: list[QueuedDestination]) -> list[str]:
    return [one.account_id for one in turns]


def test_an_account_alone_has_four_places_served_at_once() -> None:
    turns = next_destinations([], destinations("ada", 20), DESTINATIONS_AT_ONCE)

    assert turns == destinations("ada", DESTINATIONS_PER_ACCOUNT)


def test_everybodys_first_place_goes_before_anybodys_second() -> None:
    waiting = [*destinations("ada", 3), *destinations("bob", 3)]

    assert accounts_of(next_destinations([], waiting, 15)) == ["ada", "bob", "ada"]


def test_six_accounts_that_act_together_leave_half_of_the_room_to_others() -> None:
    six = [
        destination for number in range(6) for destination in destinations(f"hostile{number}", 20)
    ]
    begun = next_destinations([], six, DESTINATIONS_AT_ONCE)
    left = DESTINATIONS_AT_ONCE - len(begun)
    then = next_destinations(begun, [*six[24:], *destinations("ada", 1)], left)

    assert left == DESTINATIONS_AT_ONCE // 2
    assert accounts_of(then) == ["ada"]


def test_who_has_none_under_way_is_served_in_the_last_of_the_room() -> None:
    busy = [destination for number in range(23) for destination in destinations(f"a{number}", 1)]

    assert accounts_of(
        next_destinations(busy, [*destinations("a1", 3), *destinations("ada", 2)], 1)
    ) == ["ada"]


def test_places_that_failed_the_last_time_have_room_for_a_few() -> None:
    failing = [
        destination for n in range(20) for destination in destinations(f"a{n}", 1, is_failing=True)
    ]
    turns = next_destinations([], [*failing, *destinations("ada", 1)], DESTINATIONS_AT_ONCE)

    assert sum(one.is_failing for one in turns) == FAILING_AT_ONCE
    assert turns[-1].account_id == "ada"


def test_mails_take_as_much_room_as_their_one_server_has() -> None:
    mails = [
        destination for n in range(20) for destination in destinations(f"a{n}", 1, is_mail=True)
    ]
    turns = next_destinations([], [*mails, *destinations("ada", 1)], DESTINATIONS_AT_ONCE)

    assert sum(one.is_mail for one in turns) == MAILS_AT_ONCE
    assert turns[-1].account_id == "ada"


def test_who_gets_no_turn_now_is_not_even_looked_at() -> None:
    under_way = [*destinations("ada", 1), *destinations("bob", DESTINATIONS_PER_ACCOUNT)]

    assert accounts_at_limit(under_way, DESTINATIONS_AT_ONCE - 5) == ["bob"]
    assert accounts_at_limit(under_way, 3) == ["ada", "bob"]
