"""Prints are claimed in turns of accounts, however many each has."""

from dataclasses import replace
from datetime import timedelta

from printreach.rules.turns import TurnRule
from printreach.rules.watch.memory import WatchedPrint
from printreach.store.leases import Claim
from printreach.store.store import Records
from tests.fakes.clock import NOON
from tests.store.records import PRINTER
from tests.store.watch.watch_records import EVE, MINUTE, SECOND, on_records


async def farm(records: Records, printers: int = 20) -> None:
    """Eve's, whose printers all are due since long before Ada's."""
    await records.accounts.add(EVE)
    for number in range(printers):
        printer_id = f"eve-{number:02}"
        its = replace(PRINTER, printer_id=printer_id, account_id="eve", public_key=b"%32d" % number)
        await records.printers.link(its)
        await records.watches.begin(printer_id, "eve", "e", NOON - MINUTE + number * SECOND)


async def claim(
    records: Records,
    at_most: int,
    *,
    token: str = "t",
    after: timedelta = SECOND,
    of_account: int = 6,
    exclude: tuple[str, ...] = (),
) -> list[WatchedPrint]:
    at = NOON + after
    wanted = Claim(token=token, at=at, until=at + MINUTE, at_most=at_most, exclude=exclude)
    return await records.watches.claim(wanted, TurnRule(of_account=of_account), degraded=False)


def owners(claimed: list[WatchedPrint]) -> list[str]:
    return sorted(one.account_id for one in claimed)


@on_records
async def test_a_farm_keeps_nobody_else_waiting(records: Records) -> None:
    await farm(records)

    assert owners(await claim(records, 2)) == ["ada", "eve"]


@on_records
async def test_a_farm_never_fills_the_room(records: Records) -> None:
    await farm(records)
    first = await claim(records, 8)
    more = await claim(records, 8, token="u")

    assert owners(first) == ["ada", *["eve"] * 6]
    assert more == []


@on_records
async def test_its_own_prints_come_in_the_order_in_which_they_are_due(records: Records) -> None:
    await farm(records)
    claimed = await claim(records, 4, of_account=3)

    assert {one.printer_id for one in claimed} == {"p1", "eve-00", "eve-01", "eve-02"}


@on_records
async def test_what_another_worker_claimed_counts_until_its_claim_lapses(
    records: Records,
) -> None:
    await farm(records)
    await claim(records, 8, of_account=6)

    assert await claim(records, 8, token="u", after=2 * SECOND) == []
    lapsed = await claim(records, 8, token="v", after=2 * MINUTE)
    assert owners(lapsed) == ["ada", *["eve"] * 6]


@on_records
async def test_printers_that_are_looked_at_already_are_left_out(records: Records) -> None:
    await farm(records, 3)
    claimed = await claim(records, 8, exclude=("p1", "eve-01"))

    assert {one.printer_id for one in claimed} == {"eve-00", "eve-02"}
