"""Agents in the store: their link codes, and the nodes of their tunnels."""

import secrets
from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, select

from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.rules.printers import LinkedPrinter, LinkOffer
from printreach.store.listings import PrinterRow
from printreach.store.location import DatabaseLocation, data_dir_of
from printreach.store.relay import SqlAgents
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import nodes
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import SECOND, store_all

KEY = b"another key".ljust(32)


async def offer_of(store: Store, code: str) -> LinkOffer | None:
    async def look(records: Records) -> LinkOffer | None:
        return await records.printers.offer_with_code(
            digest(CredentialKind.LINK_CODE, code.encode())
        )

    return await store.read(look)


async def row_of(store: Store, printer_id: str = "p1") -> PrinterRow:
    async def look(records: Records) -> list[PrinterRow]:
        return await records.printers.all_linked()

    return next(row for row in await store.read(look) if row.printer.printer_id == printer_id)


async def connect(agents: SqlAgents, node_id: str, at: datetime = NOON) -> None:
    await agents.agent_connected(
        "p1",
        node_id,
        at,
        lan_ip="192.168.1.20",
        lan_port=8766,
        agent_version="0.1.0",
        platform="octoprint",
    )


@on_a_loop
async def test_a_linked_printer_is_known_by_its_id(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        agents = SqlAgents(store, secrets.token_bytes)

        assert await agents.linked_printer("p1") == LinkedPrinter(
            printer_id="p1", name="Workshop", account_id="ada"
        )
        assert await agents.linked_printer("p2") is None


@on_a_loop
async def test_a_removed_printer_is_not_linked(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)

        async def remove(records: Records) -> None:
            await records.printers.remove("p1", NOON)

        await store.write(remove)
        assert await SqlAgents(store, secrets.token_bytes).linked_printer("p1") is None


@on_a_loop
async def test_a_link_code_leads_to_the_agent_that_shows_it_for_ten_minutes(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        offered = await SqlAgents(store, secrets.token_bytes).offer_link_code("p2", KEY, NOON)

        assert offered.expires_at == NOON + timedelta(minutes=10)
        assert await offer_of(store, offered.code) == LinkOffer(
            printer_id="p2", public_key=KEY, expires_at=offered.expires_at
        )


@on_a_loop
async def test_a_new_code_replaces_the_one_before(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        agents = SqlAgents(store, secrets.token_bytes)
        first = await agents.offer_link_code("p2", KEY, NOON)
        second = await agents.offer_link_code("p2", KEY, NOON)

        assert await offer_of(store, first.code) is None
        assert await offer_of(store, second.code) is not None


@pytest.mark.sqlite
@on_a_loop
async def test_a_code_is_stored_as_a_digest_alone(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        offered = await SqlAgents(store, secrets.token_bytes).offer_link_code("p2", KEY, NOON)

    everything = b"".join(file.read_bytes() for file in data_dir_of(database).iterdir())
    assert offered.code.encode() not in everything


@on_a_loop
async def test_a_connected_agent_is_remembered_with_what_it_said(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        agents = SqlAgents(store, secrets.token_bytes)
        await agents.node_alive("n1", NOON)
        await connect(agents, "n1")

        row = await row_of(store)
        assert row.node_alive_at == NOON
        assert row.printer.node_id == "n1"
        assert row.printer.connected_at == NOON
        assert row.printer.lan_ip == "192.168.1.20"
        assert row.printer.lan_port == 8766
        assert row.printer.agent_version == "0.1.0"
        assert row.printer.platform == "octoprint"


@on_a_loop
async def test_a_disconnected_agent_has_no_node(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        agents = SqlAgents(store, secrets.token_bytes)
        await connect(agents, "n1")
        await agents.agent_disconnected("p1", "n1", NOON + SECOND)

        row = await row_of(store)
        assert row.printer.node_id is None
        assert row.printer.disconnected_at == NOON + SECOND


@on_a_loop
async def test_the_newest_node_wins_and_the_older_ones_farewell_changes_nothing(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        agents = SqlAgents(store, secrets.token_bytes)
        await connect(agents, "n1")
        await connect(agents, "n2", NOON + SECOND)
        await agents.agent_disconnected("p1", "n1", NOON + 2 * SECOND)

        assert (await row_of(store)).printer.node_id == "n2"


@on_a_loop
async def test_an_agent_that_nobody_linked_leaves_no_trace_of_its_presence(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        agents = SqlAgents(store, secrets.token_bytes)

        await agents.agent_connected(
            "p2", "n1", NOON, lan_ip=None, agent_version=None, platform=None
        )

        assert (await row_of(store)).printer.node_id is None


@on_a_loop
async def test_what_an_agent_says_of_itself_is_cut_to_what_a_person_reads(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        agents = SqlAgents(store, secrets.token_bytes)

        await agents.agent_connected(
            "p1", "n1", NOON, lan_ip=None, agent_version="9" * 1000, platform=None
        )

        assert (await row_of(store)).printer.agent_version == "9" * 64


@on_a_loop
async def test_a_node_is_known_by_its_last_sign_of_life(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        agents = SqlAgents(store, secrets.token_bytes)
        await connect(agents, "n1")
        await agents.node_alive("n1", NOON)
        await agents.node_alive("n1", NOON + SECOND)

        assert (await row_of(store)).node_alive_at == NOON + SECOND


@on_a_loop
async def test_nodes_that_stopped_are_forgotten_after_a_day(database: DatabaseLocation) -> None:
    async def count(records: Records) -> int | None:
        return await records.connection.scalar(select(func.count()).select_from(nodes))

    async with open_store(database) as store:
        agents = SqlAgents(store, secrets.token_bytes)
        await agents.node_alive("n1", NOON)
        await agents.node_alive("n2", NOON + timedelta(days=1))

        assert await store.read(count) == 1
