"""A print of Ada's under watch, for tests of the store."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

from printreach.rules.detection.scene import ViewCondition
from printreach.rules.turns import TurnRule
from printreach.rules.watch.choices import LastLook, Look, Region, WatchPause, WatchSettings
from printreach.rules.watch.memory import WatchedPrint
from printreach.store.leases import Claim
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, open_store
from tests.fakes.clock import NOON
from tests.store.records import ADA, PRINTER, store_all

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
EVE = replace(ADA, account_id="eve", email="eve@example.org")
SETTINGS = WatchSettings(
    warning_level=2,
    pauses=WatchPause(z_lift_mm=5),
    camera=1,
    masked=(Region(0.0, 0.0, 0.5, 0.25),),
    off_for_print="print-7",
    keeps_frames=True,
)


def look(number: int = 0, *, warned: bool = False, paused: bool = False) -> LastLook:
    """With a picture of its own."""
    seen = Look(
        at=NOON + number * SECOND,
        probability=0.25,
        score=40 + number,
        quality=6,
        view=ViewCondition.CLEAR,
        warned=warned,
        paused=paused,
    )
    return LastLook(
        look=seen,
        evidence=((0.1, 0.2), (0.3, 0.4)),
        picture=f"picture-{number}",
        camera=number or None,
    )


def on_records(
    test: Callable[[Records], Awaitable[None]],
) -> Callable[[DatabaseLocation], None]:
    """The test runs in one unit of work, where Ada has a printer whose print is watched."""

    def run(database: DatabaseLocation) -> None:
        async def main() -> None:
            async with open_store(database) as store:
                await store_all(store)
                await store.write(begin)
                await store.write(test)

        asyncio.run(main())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def begin(records: Records) -> None:
    await records.watches.begin("p1", "ada", "a", NOON)


async def claim(
    records: Records, token: str = "t", after: timedelta = SECOND
) -> list[WatchedPrint]:
    at = NOON + after
    wanted = Claim(token=token, at=at, until=at + MINUTE, at_most=10)
    return await records.watches.claim(wanted, TurnRule(of_account=10), degraded=False)


async def relink(records: Records) -> None:
    """Ada gives her printer to Eve."""
    await records.accounts.add(EVE)
    await records.printers.remove("p1", NOON)
    await records.printers.link(replace(PRINTER, account_id="eve"))
