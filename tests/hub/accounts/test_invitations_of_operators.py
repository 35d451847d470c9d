"""Invitations that are open while an operator becomes one no more."""

from dataclasses import replace

import pytest

from tests.fakes.loop import on_a_loop
from tests.hub.accounts.test_blocking import block
from tests.hub.operators.test_operating import GRACE, operating
from tests.hub.world import ADA, BOB, PASSWORD, OpenWorld


@pytest.mark.parametrize("way", ["blocked", "no operator any more", "deleted"])
def test_an_operator_who_is_out_comes_back_by_no_invitation(
    open_world: OpenWorld, way: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with open_world() as world:
            for email in (ADA, BOB):
                await world.accounts.add(email, PASSWORD, is_admin=True)
            hub = operating(world)
            link = await hub.invitations.invite(is_admin=True, by=replace(GRACE, name=ADA))
            assert isinstance(link, str)
            match way:
                case "blocked":
                    await block(world)
                case "deleted":
                    await hub.delete(ADA, GRACE)
                case _:
                    await hub.set_admin(ADA, is_admin=False, by=GRACE)

            assert await hub.invitations.look_up(link.rpartition("=")[2]) is None

    body()


@on_a_loop
async def test_invitations_outlive_others_who_are_blocked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        hub = operating(world)
        link = await hub.invitations.invite(BOB, by=GRACE)
        assert isinstance(link, str)
        await block(world)

        assert await hub.invitations.look_up(link.rpartition("=")[2]) is not None
