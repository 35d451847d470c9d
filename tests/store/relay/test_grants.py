"""Connections as the relay gets them, and the tickets that open a printer's own page."""

import secrets
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from printreach.contract.cameras import CameraChoice
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.connections import ConnectionKind, Grant
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.store.location import DatabaseLocation
from printreach.store.relay import grants as grants_module
from printreach.store.relay.grants import (
    COOKIE_LIFETIME,
    MAX_COOKIES,
    SHARED_COOKIE_LIFETIME,
    SqlGrants,
)
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import cookie_sessions
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.grants import INTERNAL_KEY
from tests.fakes.loop import on_a_loop
from tests.store.records import (
    CONNECTION,
    OWN,
    SECOND,
    digests,
    revoke,
    store_all,
    store_shared,
    store_ticket,
)

TICKET = digest(CredentialKind.OPEN_TICKET, b"ticket")
SOON = NOON + timedelta(minutes=10)


def grants_of(
    store: Store,
    clock: FakeClock | None = None,
    supporters: SupporterPolicy = SupporterPolicy.EVERYONE,
) -> SqlGrants:
    return SqlGrants(store, clock or FakeClock(), secrets.token_bytes, supporters, INTERNAL_KEY)


async def grant_of(grants: SqlGrants, unique_id: str) -> Grant:
    grant = await grants.grant(unique_id)
    assert grant is not None
    return grant


@on_a_loop
async def test_a_grant_holds_what_admission_needs(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)

        assert await grants_of(store).grant("app-c1") == Grant(
            unique_id="app-c1",
            connection_id="c1",
            kind=ConnectionKind.APP,
            printer_id="p1",
            account_id="ada",
            digests=(digests("c1").basic, digests("c1").bearer),
            ended=False,
            expires_at=None,
            owner_is_supporter=True,
        )


@on_a_loop
async def test_a_grant_has_what_the_printers_owner_chose_for_its_cameras(
    database: DatabaseLocation,
) -> None:
    chosen = (CameraChoice(camera="Over", name="Plate", rotation=180),)
    async with open_store(database) as store:
        await store_all(store)

        await store.write(lambda records: records.printers.choose_cameras("p1", chosen))

        assert (await grant_of(grants_of(store), "app-c1")).cameras == chosen


@on_a_loop
async def test_a_host_name_that_was_never_given_out_has_no_grant(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)

        assert await grants_of(store).grant("app-other") is None


@on_a_loop
async def test_the_grant_of_a_revoked_connection_keeps_its_credentials_and_says_it_ended(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await revoke(store, "c1")

        grant = await grant_of(grants_of(store), "app-c1")
        assert grant.ended
        assert grant.digests == (digests("c1").basic, digests("c1").bearer)


@on_a_loop
async def test_a_connection_outlives_its_account_as_an_ended_one_of_nobody(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)

        async def delete(records: Records) -> None:
            await records.accounts.delete("ada")

        await store.write(delete)
        grant = await grant_of(grants_of(store), "app-c1")
        assert grant.ended
        assert (grant.account_id, grant.printer_id) == ("", "")


@pytest.mark.parametrize(
    ("policy", "granted", "expected"),
    [
        (SupporterPolicy.EVERYONE, False, True),
        (SupporterPolicy.GRANTED, False, False),
        (SupporterPolicy.GRANTED, True, True),
    ],
)
def test_the_operators_policy_decides_who_is_a_supporter(
    database: DatabaseLocation, policy: SupporterPolicy, granted: bool, expected: bool
) -> None:
    @on_a_loop
    async def body() -> None:
        async with open_store(database) as store:
            await store_all(store)

            async def give(records: Records) -> None:
                await records.accounts.set_supporter("ada", granted=granted, until=None)

            await store.write(give)
            grant = await grant_of(grants_of(store, supporters=policy), "app-c1")
            assert grant.owner_is_supporter is expected

    body()


@on_a_loop
async def test_supporter_status_ends_by_the_clock(database: DatabaseLocation) -> None:
    clock = FakeClock()
    async with open_store(database) as store:
        await store_all(store)

        async def give(records: Records) -> None:
            await records.accounts.set_supporter("ada", granted=True, until=NOON + SECOND)

        await store.write(give)
        grants = grants_of(store, clock, SupporterPolicy.GRANTED)
        assert (await grant_of(grants, "app-c1")).owner_is_supporter
        clock.advance(SECOND)
        assert not (await grant_of(grants, "app-c1")).owner_is_supporter


@on_a_loop
async def test_a_port_leads_to_the_connection_that_owns_it(database: DatabaseLocation) -> None:
    at_port = replace(CONNECTION, connection_id="c2", unique_id="app-c2", port=18000)
    async with open_store(database) as store:
        await store_all(store)

        async def add(records: Records) -> None:
            await records.connections.add(at_port, digests("c2"))

        await store.write(add)
        assert await grants_of(store).unique_id_at_port(18000) == "app-c2"
        assert await grants_of(store).unique_id_at_port(18001) is None


@on_a_loop
async def test_a_ticket_becomes_a_cookie_that_opens_its_connection(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_ticket(store, TICKET, SOON)
        grants = grants_of(store)

        cookie = await grants.redeem_open_ticket("own-o1", "ticket", NOON)

        assert cookie is not None
        grant = await grant_of(grants, "own-o1")
        assert grant.digests == (digest(CredentialKind.COOKIE, cookie.encode()),)


@on_a_loop
async def test_a_ticket_works_once(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_ticket(store, TICKET, SOON)
        grants = grants_of(store)

        assert await grants.redeem_open_ticket("own-o1", "ticket", NOON) is not None
        assert await grants.redeem_open_ticket("own-o1", "ticket", NOON) is None


@on_a_loop
async def test_a_ticket_works_until_its_time_is_over(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_ticket(store, TICKET, SOON)

        assert await grants_of(store).redeem_open_ticket("own-o1", "ticket", SOON) is None


@on_a_loop
async def test_a_ticket_opens_no_connection_but_its_own(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_ticket(store, TICKET, SOON)
        grants = grants_of(store)

        assert await grants.redeem_open_ticket("app-c1", "ticket", NOON) is None
        assert await grants.redeem_open_ticket("own-o1", "another", NOON) is None
        assert await grants.redeem_open_ticket("own-o1", "ticket", NOON) is not None


@on_a_loop
async def test_a_ticket_of_a_revoked_connection_is_worth_nothing(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_ticket(store, TICKET, SOON)
        await revoke(store, "o1")

        assert await grants_of(store).redeem_open_ticket("own-o1", "ticket", NOON) is None


@on_a_loop
async def test_a_cookie_lasts_twelve_hours(database: DatabaseLocation) -> None:
    clock = FakeClock()
    async with open_store(database) as store:
        await store_all(store)
        await store_ticket(store, TICKET, SOON)
        grants = grants_of(store, clock)
        await grants.redeem_open_ticket("own-o1", "ticket", NOON)

        clock.at = NOON + COOKIE_LIFETIME - SECOND
        assert len((await grant_of(grants, "own-o1")).digests) == 1
        clock.advance(SECOND)
        assert (await grant_of(grants, "own-o1")).digests == ()


@on_a_loop
async def test_one_browser_too_many_signs_the_oldest_out(
    database: DatabaseLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_COOKIES == 32
    monkeypatch.setattr(grants_module, "MAX_COOKIES", 2)
    async with open_store(database) as store:
        await store_all(store)
        grants = grants_of(store)
        cookies = []
        for seconds in range(3):
            await store_ticket(store, TICKET, SOON)
            cookie = await grants.redeem_open_ticket("own-o1", "ticket", NOON + seconds * SECOND)
            assert cookie is not None
            cookies.append(digest(CredentialKind.COOKIE, cookie.encode()))

        assert set((await grant_of(grants, "own-o1")).digests) == set(cookies[1:])


@on_a_loop
async def test_no_more_browsers_of_a_shared_connection_are_kept_than_count(
    database: DatabaseLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grants_module, "MAX_COOKIES", 3)
    async with open_store(database) as store:
        await store_all(store)
        await store_shared(store)
        for seconds in range(5):
            assert await grants_of(store).add_shared_cookie("shared-s1", NOON + seconds * SECOND)

        async def count(records: Records) -> int:
            rows = await records.connection.execute(select(cookie_sessions))
            return len(rows.all())

        assert await store.read(count) == 3


@on_a_loop
async def test_a_browser_that_opens_a_share_again_signs_no_other_guest_out(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_shared(store)
        clock = FakeClock()
        grants = grants_of(store, clock)
        guest = await grants.add_shared_cookie("shared-s1", NOON)
        current = await grants.add_shared_cookie("shared-s1", NOON)
        assert guest is not None
        for seconds in range(MAX_COOKIES + 1):
            at = NOON + seconds * SECOND
            assert await grants.add_shared_cookie("shared-s1", at, current) == current

        opened_by = (await grant_of(grants, "shared-s1")).digests
        assert digest(CredentialKind.COOKIE, guest.encode()) in opened_by


@on_a_loop
async def test_a_renewed_cookie_lasts_seven_days_and_one_that_has_ended_is_not_renewed(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_shared(store)
        grants = grants_of(store)
        current = await grants.add_shared_cookie("shared-s1", NOON)
        last = NOON + SHARED_COOKIE_LIFETIME - SECOND
        assert await grants.add_shared_cookie("shared-s1", last, current) == current
        over = last + SHARED_COOKIE_LIFETIME
        assert await grants.add_shared_cookie("shared-s1", over, current) not in (None, current)
        assert await grants.add_shared_cookie("shared-s1", over, "no cookie") != "no cookie"


@on_a_loop
async def test_a_wrong_ticket_costs_no_write(
    database: DatabaseLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(database) as store:
        await store_all(store)

        def write(*_: object) -> None:
            raise AssertionError("something was written")

        monkeypatch.setattr(store, "write", write)
        assert await grants_of(store).redeem_open_ticket("own-o1", "wrong", NOON) is None


@on_a_loop
async def test_no_password_signs_a_browser_in_to_an_app_or_an_own_connection(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)

        for unique_id in ("app-c1", "own-o1"):
            assert await grants_of(store).add_shared_cookie(unique_id, NOON) is None


@on_a_loop
async def test_signing_in_to_one_connection_opens_no_other(database: DatabaseLocation) -> None:
    other = replace(OWN, connection_id="o2", unique_id="own-o2")
    async with open_store(database) as store:
        await store_all(store)

        async def add(records: Records) -> None:
            await records.connections.add(other, None)

        await store.write(add)
        await store_ticket(store, TICKET, SOON)
        grants = grants_of(store)
        await grants.redeem_open_ticket("own-o1", "ticket", NOON)

        assert (await grant_of(grants, "own-o2")).digests == ()


@on_a_loop
async def test_a_connection_knows_when_it_was_last_used(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        grants = grants_of(store)

        async def used_at(connection_id: str) -> datetime | None:
            found = await store.read(lambda records: records.connections.get(connection_id))
            assert found is not None
            return found.used_at

        assert await used_at("c1") is None
        await grants.connections_used({"app-c1": NOON + SECOND, "app-unknown": NOON})
        assert await used_at("c1") == NOON + SECOND
        assert await used_at("o1") is None

        await grants.connections_used({"app-c1": NOON})  # another node tells later of a use before
        assert await used_at("c1") == NOON + SECOND
        await grants.connections_used({})
