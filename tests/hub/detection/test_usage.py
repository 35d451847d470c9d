"""What was used, day by day and key by key, and what an account chose about paying."""

from datetime import date
from decimal import Decimal

from printreach.hub.denied import Reason
from printreach.hub.detection.usage import MonthOfUse, Usage
from printreach.rules.detection.access import DetectionKey
from printreach.rules.detection.usage import Billing, Calls, Month, Plan, Switches
from printreach.rules.operators import COMMAND_LINE
from printreach.store.store import Records
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, BOB, OpenWorld, World, denied

PLAN = Plan(offers_billing=True)


def usage_of(world: World, plan: Plan = PLAN) -> Usage:
    return Usage(core=world.core, plan=plan)


async def use(world: World, account_id: str, *days: tuple[str, date, Calls]) -> None:
    """Write down calls of keys, which are made."""

    async def write(records: Records) -> None:
        for key_id in {key_id for key_id, _, _ in days}:
            key = DetectionKey(
                key_id=key_id, account_id=account_id, name=key_id.upper(), created_at=NOON
            )
            await records.detection_keys.add(key, key_id.encode())
        for key_id, day, calls in days:
            await records.detection_usage.add(key_id, day, calls)

    await world.store.write(write)


@on_a_loop
async def test_a_month_has_every_day_every_key_and_its_cost(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await use(
            world,
            ada.account_id,
            ("one", date(2026, 5, 1), Calls(all=5_000)),
            ("two", date(2026, 5, 1), Calls(all=7_000, paid=7_000)),
            ("one", date(2026, 5, 2), Calls(all=345, paid=345)),
            ("one", date(2026, 3, 2), Calls(all=1)),
        )
        month = await usage_of(world).month(ada.account_id)

        assert len(month.by_day) == 31
        assert [month.by_day[date(2026, 5, day)] for day in (1, 2, 3)] == [12_000, 345, 0]
        assert month.by_key == [("TWO", 7_000), ("ONE", 5_345)]
        assert (month.calls, month.cost_usd) == (Calls(all=12_345, paid=7_345), Decimal("2.938"))
        assert month.months == [Month(2026, 5), Month(2026, 3)]
        assert month.is_present


@on_a_loop
async def test_free_calls_cost_nothing_however_the_allowance_was_changed(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await use(world, ada.account_id, ("one", date(2026, 5, 1), Calls(all=6_000)))

        assert (await usage_of(world).month(ada.account_id)).cost_usd == 0


@on_a_loop
async def test_a_month_without_use_is_empty_and_another_accounts_is_not_told(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        await use(world, ada.account_id, ("one", date(2026, 5, 1), Calls(all=9)))
        bobs = await usage_of(world).month(bob.account_id)

        assert (bobs.calls, bobs.by_key, set(bobs.by_day.values())) == (Calls(), [], {0})
        assert bobs.months == [Month(2026, 5)]


@on_a_loop
async def test_an_operator_looks_by_mail_address(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await use(world, ada.account_id, ("one", date(2026, 4, 30), Calls(all=9)))
        april = await usage_of(world).month_of(ADA, Month(2026, 4))

        assert isinstance(april, MonthOfUse)
        assert denied(await usage_of(world).month_of(BOB)).reason is Reason.NO_SUCH_ACCOUNT
        assert april.calls == Calls(all=9)
        assert not april.is_present


@on_a_loop
async def test_free_only_is_on_and_billing_off_until_somebody_says_otherwise(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        assert (await usage_of(world).month(ada.account_id)).switches == Switches()
        other = Plan(free_only=False)
        assert not (await usage_of(world, other).month(ada.account_id)).switches.free_only
        await usage_of(world).set_free_only(ada.account_id, free_only=False)
        await usage_of(world).set_billing(ada.account_id, on=True)

        month = await usage_of(world).month(ada.account_id)
        assert month.switches == Switches(free_only=False, billing=Billing.ON)
        await usage_of(world).set_billing(ada.account_id, on=False)
        month = await usage_of(world).month(ada.account_id)
        assert month.switches == Switches(free_only=False, billing=Billing.OFF)


@on_a_loop
async def test_nobody_switches_on_billing_that_is_not_offered(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        usage = usage_of(world, Plan())

        refused = denied(await usage.set_billing(ada.account_id, on=True))
        assert refused.reason is Reason.INVALID
        assert (await usage.month(ada.account_id)).switches == Switches()


@on_a_loop
async def test_who_did_not_pay_does_not_lift_that_alone(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        usage = usage_of(world)
        await usage.set_billing_of(ADA, Billing.BLOCKED, COMMAND_LINE)

        for on in (True, False):
            denied(await usage.set_billing(ada.account_id, on=on))
        await usage.set_free_only(ada.account_id, free_only=False)
        month = await usage.month(ada.account_id)
        assert month.switches.billing is Billing.BLOCKED
        await usage.set_billing_of(ADA, Billing.OFF, COMMAND_LINE)
        assert (await usage.month(ada.account_id)).switches.billing is Billing.OFF
        assert denied(await usage.set_billing_of(BOB, Billing.ON, COMMAND_LINE)).reason is (
            Reason.NO_SUCH_ACCOUNT
        )
