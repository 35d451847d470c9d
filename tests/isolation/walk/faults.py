"""Faults to be planted in the service, each of which would let one account reach another's things.

They show that the walk's oracle sees what it is there to see.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from printreach.hub import home_assistant
from printreach.hub.connections import live_links
from printreach.hub.connections import own as own_connections
from printreach.hub.leases import Leases
from printreach.hub.printers.own import OwnPrinters
from printreach.relay.admission import Admission
from printreach.rules import connections
from printreach.rules.printers.members import Role
from printreach.store.accounts.sessions import SessionRecords
from printreach.store.connections import ConnectionRecords
from printreach.store.connections.live_links import LiveLinkRecords
from printreach.store.listings import PrinterRow
from printreach.store.printers.members import MemberRecords
from printreach.store.relay import grants
from printreach.store.store import Records
from printreach.web.printers import access as web_access

Plant = Callable[[pytest.MonkeyPatch], None]


async def _rows_of_all(records: Records) -> dict[str, PrinterRow]:
    return {
        row.printer.printer_id: row
        for account in await records.accounts.all()
        for row in await records.printers.rows_of_account(account.account_id)
    }


async def _nothing(*_args: Any, **_named: Any) -> None: ...


def removal_leaves_cached_grants(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Admission, "_on_notice", lambda *_: None)


def connections_outlive_removal(patch: pytest.MonkeyPatch) -> None:
    """A connection is to a printer, whoever has that by now."""
    patch.setattr(ConnectionRecords, "revoke_all_of_printer", _nothing)


def sessions_do_not_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SessionRecords, "end", _nothing)


def live_links_ignore_their_owner(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LiveLinkRecords, "end_all_of_printer", _nothing)

    def is_there(_link: object, printer: object) -> bool:
        return printer is not None

    patch.setattr(live_links, "shows_printer", is_there)


def leases_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """What lasts goes on for ever."""
    patch.setattr(Leases, "look", _nothing)


def pages_ignore_whose_a_printer_is(patch: pytest.MonkeyPatch) -> None:
    async def rows(self: OwnPrinters, _account_id: str) -> list[PrinterRow]:
        return list((await self.core.store.read(_rows_of_all)).values())

    patch.setattr(OwnPrinters, "visible_rows", rows)


def members_stay_after_their_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MemberRecords, "remove", _nothing)


def members_have_every_role(patch: pytest.MonkeyPatch) -> None:
    """Every route is for whoever may watch."""
    patch.setattr(web_access, "needed_role", lambda _request: Role.WATCH)


def connections_are_ended_by_anybody(patch: pytest.MonkeyPatch) -> None:
    async def any_connection(records: Records, _account_id: str, connection_id: str) -> Any:
        return await records.connections.get(connection_id)

    patch.setattr(own_connections, "_own", any_connection)


def home_assistant_hears_of_everybody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(home_assistant, "_rows_of_operators", _rows_of_all)


def blocking_spares_connections(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grants, "_has_ended", lambda row: row["revoked_at"] is not None)


def permissions_are_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(connections, "refusal_of", lambda _need, _access: None)


def any_proof_opens_any_connection(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(connections, "is_opened_by", lambda _grant, presented: bool(presented))


def tickets_outlive_their_session(patch: pytest.MonkeyPatch) -> None:
    add = ConnectionRecords.add_open_ticket

    async def without_session(
        self: ConnectionRecords, connection_id: str, ticket: bytes, until: Any, _session: Any
    ) -> None:
        await add(self, connection_id, ticket, until, None)

    patch.setattr(ConnectionRecords, "add_open_ticket", without_session)


FAULTS: Final[Mapping[str, Plant]] = {
    plant.__name__: plant
    for plant in (
        removal_leaves_cached_grants,
        connections_outlive_removal,
        sessions_do_not_end,
        live_links_ignore_their_owner,
        leases_are_not_looked_at,
        pages_ignore_whose_a_printer_is,
        members_stay_after_their_end,
        members_have_every_role,
        connections_are_ended_by_anybody,
        home_assistant_hears_of_everybody,
        blocking_spares_connections,
        permissions_are_ignored,
        any_proof_opens_any_connection,
        tickets_outlive_their_session,
    )
}
