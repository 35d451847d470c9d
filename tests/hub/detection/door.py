"""The door of the failure-detection API on a world: keys of two accounts, and what is counted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from printreach.contract.detection_api import DetectionError
from printreach.hub.detection.gate import DetectionGate
from printreach.hub.detection.keys import DetectionKeys, MadeKey
from printreach.hub.detection.usage import Usage
from printreach.rules.accounts import Account
from printreach.rules.detection.access import CallKind, CallRefused
from printreach.rules.detection.usage import Calls, Month, Plan
from printreach.rules.operators import COMMAND_LINE
from tests.hub.world import ADA, BOB, OpenWorld, World

HERE, THERE = "8.8.8.8", "9.9.9.9"
PLAN = Plan(free_calls=3, offers_billing=True)
SECOND = timedelta(seconds=1)
MAY = Month(2026, 5)


@dataclass
class Door:
    """A gate with the keys of Ada, one of Bob, and what stands behind."""

    world: World
    ada: Account
    keys: DetectionKeys
    gate: DetectionGate
    adas: MadeKey
    bobs: MadeKey

    async def call(
        self,
        made: MadeKey,
        address: str = HERE,
        *,
        kind: CallKind = CallKind.PROCESS,
        may_claim: bool = True,
    ) -> DetectionError | None:
        """Ask, and where it is allowed, answer."""
        at = self.world.clock.now()
        decision = await self.gate.admit(made.api_key, address, at, kind, may_claim=may_claim)
        if isinstance(decision, CallRefused):
            return decision.error
        self.gate.answered(decision, at)
        return None

    async def calls(self, month: Month = MAY) -> Calls:
        """What is written down of Ada."""
        use = Usage(core=self.world.core, plan=PLAN)
        return (await use.month(self.ada.account_id, month)).calls


@asynccontextmanager
async def open_door(
    open_world: OpenWorld, plan: Plan = PLAN, *, claims: bool = True
) -> AsyncIterator[Door]:
    async with open_world() as world:
        keys = DetectionKeys(core=world.core)
        ada = await world.add_account()
        await world.add_account(BOB)
        adas, bobs = (
            await keys.make_for(ADA, "", COMMAND_LINE),
            await keys.make_for(BOB, "", COMMAND_LINE),
        )
        assert isinstance(adas, MadeKey)
        assert isinstance(bobs, MadeKey)
        gate = DetectionGate(store=world.store, plan=plan, claims_addresses=claims)
        yield Door(world, ada, keys, gate, adas, bobs)
