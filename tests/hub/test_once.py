"""Secrets that are shown once: to whom, by which node, and for how long they wait."""

from datetime import timedelta
from typing import Any

import pytest

from printreach.hub.accounts.access_tokens import MadeToken
from printreach.hub.connections import Shared
from printreach.hub.detection.keys import MadeKey
from printreach.hub.once import KEPT_FOR, ShownOnce
from printreach.hub.printers.members import MadeInvitation
from printreach.hub.printers.remote_lock import StopOutcome, StoppedPrinter, StopResult
from printreach.languages import N_
from printreach.rules.accounts.access_tokens import AccessToken
from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.connections.credentials import AppSecrets
from printreach.rules.detection.access import DetectionKey
from printreach.rules.printers.members import MemberInvitation, Role
from printreach.store.accounts.shown_once import MAX_KEPT
from printreach.store.sealing import KeySealer
from tests.fakes.clock import NOON
from tests.hub.world import BOB, OpenWorld, World
from tests.relay.loop import on_a_loop

SHARED = Shared(
    connection=Connection(
        connection_id="one",
        unique_id="shared-one",
        kind=ConnectionKind.SHARED,
        app_id=None,
        printer_id="printer",
        account_id="ada",
        port=None,
        created_at=NOON,
    ),
    url="https://shared-one.tunnel.example",
    link="https://shared-one.tunnel.example/service-command-api/open?service_api_key=b",
    secrets=AppSecrets(basic_user="u", basic_password="hush", bearer_token="b", app_api_token="a"),
)


TOKEN = AccessToken(
    token_id="t", account_id="ada", name="Mine", scopes=frozenset({"events:read"}), created_at=NOON
)
KEY = DetectionKey(key_id="k", account_id="ada", name="Mine", created_at=NOON)
INVITATION = MemberInvitation(
    invitation_id="i",
    printer_id="p",
    account_id="ada",
    role=next(iter(Role)),
    email=None,
    uses_left=5,
    created_at=NOON,
    expires_at=NOON,
)
STOPPED = StopOutcome(
    stop=next(iter(StopResult)),
    sentence="It is offline.",
    heaters=N_("They may still be on: %(sentence)s", sentence="It is offline."),
)


def shown(world: World, shape: Any = str, name: str = "words") -> ShownOnce[Any]:
    """What a node keeps of one kind; each call is another node."""
    sealer = KeySealer(b"s" * 32, world.core.token_bytes)
    return ShownOnce(core=world.core, sealer=sealer, name=name, shape=shape)


@on_a_loop
async def test_they_are_shown_to_their_owner_once_by_whichever_node(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        await shown(world, Shared).put(ada.account_id, "one", SHARED)

        assert await shown(world, Shared).take(bob.account_id, "one") is None
        assert await shown(world, Shared, "other").take(ada.account_id, "one") is None
        assert await shown(world, Shared).take(ada.account_id, "one") == SHARED
        assert await shown(world, Shared).take(ada.account_id, "one") is None


@on_a_loop
async def test_they_do_not_wait_for_long(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = (await world.add_account()).account_id
        await shown(world).put(ada, "one", "hush")
        world.clock.advance(KEPT_FOR + timedelta(seconds=1))

        assert await shown(world).take(ada, "one") is None


@on_a_loop
async def test_those_that_nobody_looked_at_are_deleted_with_the_next(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = (await world.add_account()).account_id
        await shown(world).put(ada, "one", "hush")
        world.clock.advance(KEPT_FOR + timedelta(seconds=1))
        await shown(world).put(ada, "two", "hush")

        kept = await world.store.write(lambda records: records.shown_once.take(ada, "words:one"))
        assert kept is None


@on_a_loop
async def test_an_account_keeps_only_so_many(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = (await world.add_account()).account_id
        for number in range(MAX_KEPT + 1):
            await shown(world).put(ada, str(number), "hush")
            world.clock.advance(timedelta(milliseconds=1))

        assert await shown(world).take(ada, "0") is None
        assert await shown(world).take(ada, "1") == "hush"


@on_a_loop
async def test_the_database_has_no_secret_in_clear(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = (await world.add_account()).account_id
        await shown(world).put(ada, "one", "a secret of the page")

        assert b"a secret of the page" not in world.everything_on_disk()


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (MadeToken, MadeToken(token=TOKEN, secret="prt_hush")),
        (MadeKey, MadeKey(key=KEY, api_key="hush")),
        (MadeInvitation, MadeInvitation(invitation=INVITATION, link="hush", was_mailed=False)),
        (list[str], ["one", "two"]),
        (tuple[str, str], ("ada@example.org", "https://reach.example/invited?t=1")),
        (
            list[StoppedPrinter],
            [StoppedPrinter(printer_id="p", name="Workshop", outcome=STOPPED)],
        ),
    ],
)
@on_a_loop
async def test_they_come_back_as_they_were(
    open_world: OpenWorld, shape: Any, value: object
) -> None:
    async with open_world() as world:
        ada = (await world.add_account()).account_id
        await shown(world, shape).put(ada, "one", value)

        assert await shown(world, shape).take(ada, "one") == value
