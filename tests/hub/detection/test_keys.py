"""Keys: made and told once, listed, disabled, and never another account's."""

from datetime import timedelta

import pytest

from printreach.hub.denied import Reason
from printreach.hub.detection import keys as module
from printreach.hub.detection.keys import NO_SUCH_KEY, DetectionKeys, MadeKey
from printreach.rules.detection.access import MAX_DISABLED_KEYS, MAX_KEYS
from printreach.rules.operators import COMMAND_LINE
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, BOB, OpenWorld, World, denied


def keys_of(world: World) -> DetectionKeys:
    return DetectionKeys(core=world.core)


async def make(world: World, email: str = ADA, name: str = "") -> MadeKey:
    made = await keys_of(world).make_for(email, name, COMMAND_LINE)
    assert isinstance(made, MadeKey)
    return made


@on_a_loop
async def test_a_key_is_told_once_and_kept_as_a_digest(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        made = await make(world, name="Farm")

        assert await keys_of(world).all(ada.account_id) == [made.key]
        assert (made.key.name, made.key.created_at) == ("Farm", NOON)
        assert made.api_key.encode() not in world.everything_on_disk()
        assert made.api_key not in repr(made)


@on_a_loop
async def test_a_key_is_disabled_by_its_owner_alone(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        key_id = (await make(world)).key.key_id
        keys = keys_of(world)

        assert await keys.disable(bob.account_id, key_id) == NO_SUCH_KEY
        assert await keys.one(bob.account_id, key_id) == NO_SUCH_KEY
        assert await keys.disable(bob.account_id, "unknown") == NO_SUCH_KEY
        assert not (await keys.all(ada.account_id))[0].is_disabled
        await keys.disable(ada.account_id, key_id)
        assert (await keys.all(ada.account_id))[0].disabled_at == NOON


@on_a_loop
async def test_an_operator_disables_any_key(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        made = await make(world)

        assert (
            denied(await keys_of(world).disable_any("unknown", COMMAND_LINE)).reason
            is Reason.NO_SUCH_KEY
        )
        await keys_of(world).disable_any(made.key.key_id, COMMAND_LINE)
        [key] = await keys_of(world).all(made.key.account_id)
        assert key.is_disabled


@on_a_loop
async def test_a_key_needs_an_account_and_a_name_that_can_be_read(open_world: OpenWorld) -> None:
    async with open_world() as world:
        unknown = denied(await keys_of(world).make_for(ADA, "", COMMAND_LINE))
        await world.add_account()
        unreadable = denied(await keys_of(world).make_for(ADA, "a\u202eb", COMMAND_LINE))

        assert unknown.reason is Reason.NO_SUCH_ACCOUNT
        assert unreadable.reason is Reason.INVALID


@on_a_loop
async def test_there_is_an_end_to_the_keys_of_an_account(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (MAX_KEYS, MAX_DISABLED_KEYS) == (20, 50)
    monkeypatch.setattr(module, "MAX_KEYS", 2)
    async with open_world() as world:
        await world.add_account()
        first, _ = await make(world), await make(world)

        assert (
            denied(await keys_of(world).make_for(ADA, "", COMMAND_LINE)).reason
            is Reason.TOO_MANY_KEYS
        )
        await keys_of(world).disable_any(first.key.key_id, COMMAND_LINE)
        await make(world)


@on_a_loop
async def test_of_many_disabled_keys_the_oldest_are_forgotten(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_DISABLED_KEYS", 1)
    async with open_world() as world:
        ada = await world.add_account()
        for name in ("oldest", "older", "old"):
            made = await make(world, name=name)
            await keys_of(world).disable_any(made.key.key_id, COMMAND_LINE)
            world.clock.advance(timedelta(seconds=1))
        await make(world, name="new")

        names = [one.name for one in await keys_of(world).all(ada.account_id)]
        assert names == ["new", "old"]
