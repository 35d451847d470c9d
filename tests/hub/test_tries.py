"""Tries that are limited, in memory and in the store."""

from datetime import timedelta

from printreach.hub.tries import AccountTries, CallerTries
from printreach.rules.rate_limits import Limit
from tests.fakes.clock import FakeClock
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, OpenWorld

TWO = Limit(name="test", at_once=2, every=timedelta(minutes=1))
OTHER = Limit(name="other", at_once=2, every=timedelta(minutes=1))


def test_callers_limits_and_networks_are_told_apart() -> None:
    tries = CallerTries(FakeClock())

    assert [tries.take_by_address(TWO, "2001:db8::1") for _ in range(2)] == [None, None]
    assert tries.take_by_address(TWO, "2001:db8::2") is not None
    assert tries.take_by_address(TWO, "2001:db8:0:1::1") is None
    assert tries.take_by_address(OTHER, "2001:db8::1") is None


def test_tries_at_one_place_are_not_counted_at_another() -> None:
    tries = CallerTries(FakeClock())

    assert [tries.take_by_address(TWO, "192.0.2.1", "one") for _ in range(2)] == [None, None]
    assert tries.take_by_address(TWO, "192.0.2.1", "one") is not None
    assert tries.take_by_address(TWO, "192.0.2.1", "two") is None
    assert tries.take_by_address(TWO, "192.0.2.2", "one") is None


def test_a_customer_with_thousands_of_ipv6_networks_has_sixteen_times_the_budget_of_one() -> None:
    tries = CallerTries(FakeClock())

    def allowed(addresses: list[str]) -> int:
        return sum(tries.take_by_address(TWO, address) is None for address in addresses)

    assert allowed([f"2001:db8:0:{number:x}::1" for number in range(256)]) == 2 * 4
    assert allowed([f"2001:db8:0:{number:x}::1" for number in range(256, 65_536, 16)]) == 2 * 12
    assert allowed(["2001:db8:1::1"]) == 1


def test_asking_too_soon_does_not_make_the_wait_longer() -> None:
    clock = FakeClock()
    tries = CallerTries(clock)
    for _ in range(100):
        tries.take(TWO, "ada")

    clock.advance(timedelta(minutes=1))

    assert tries.take(TWO, "ada") is None


def test_however_many_callers_come_no_more_than_so_many_are_remembered() -> None:
    tries = CallerTries(FakeClock(), most=100)

    for number in range(10_000):
        tries.take(TWO, str(number))

    assert tries.remembered <= 100


def test_those_who_were_just_refused_are_the_last_to_be_forgotten() -> None:
    tries = CallerTries(FakeClock(), most=100)
    tries.take(TWO, "spammer")
    tries.take(TWO, "spammer")

    for number in range(150):
        tries.take(TWO, str(number))

    assert tries.take(TWO, "spammer") is not None


@on_a_loop
async def test_tries_on_an_account_survive_a_restart(open_world: OpenWorld) -> None:
    async with open_world() as world:
        tries = AccountTries(world.store, world.clock)
        assert [await tries.take(TWO, ADA) for _ in range(2)] == [None, None]

    async with open_world() as world:
        tries = AccountTries(world.store, world.clock)
        assert await tries.take(TWO, ADA) is not None
        await tries.forget(TWO, ADA)
        assert await tries.take(TWO, ADA) is None


@on_a_loop
async def test_what_people_type_is_not_kept(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await AccountTries(world.store, world.clock).take(TWO, "a password by mistake")

        assert b"by mistake" not in world.everything_on_disk()
