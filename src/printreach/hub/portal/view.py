"""The present state of a portal flow: the person, their printers and the open step."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from printreach.contract.platforms import facts_of
from printreach.rules.accounts import Account, SupporterPolicy, may_connect_apps
from printreach.rules.apps import App
from printreach.rules.connections import Connection, has_ended
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.rules.portal import (
    Facts,
    Flow,
    Step,
    as_seen_by,
    chosen_printer,
    preselected_printer,
    step_of,
)
from printreach.rules.printers import Printer, is_online
from printreach.store.listings import PrinterRow
from printreach.store.store import Records


@dataclass(frozen=True, slots=True)
class FlowKey:
    """Identifies a flow: its id, from the address, and the secret of its browser's cookie."""

    flow_id: str
    browser: str = ""

    @property
    def form_token(self) -> str:
        """Return the token that forms of this flow in this browser carry; no one else knows it."""
        return digest(CredentialKind.PORTAL_FORM, f"{self.browser}:{self.flow_id}".encode()).hex()

    def is_form_token(self, token: str) -> bool:
        """Return whether the token belongs to this flow in this browser."""
        return hmac.compare_digest(self.form_token.encode(), token.encode())


@dataclass(frozen=True, slots=True)
class PrinterHere:
    """A printer of the person, and whether its agent is connected."""

    printer: Printer
    is_online: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A flow and what its page shows. flow: as the account that is signed in sees it.

    printers: connected ones first, each group in the order of the dashboard.
    printer: the flow's printer, once that is known. preselected: the id of the one to be marked.
    earlier: the app's connections in force, by the printer's id, oldest first.
    """

    flow: Flow
    facts: Facts
    app: App
    step: Step
    printers: tuple[PrinterHere, ...]
    printer: PrinterHere | None
    preselected: str | None
    earlier: Mapping[str, Sequence[Connection]]

    @property
    def just_linked(self) -> Printer | None:
        """Return the printer that was linked in this flow and has no name of its owner's yet."""
        unnamed = self.flow.unnamed_printer_id
        found = (row.printer for row in self.printers if row.printer.printer_id == unnamed)
        return next(found, None)


def browser_digest(browser: str) -> bytes:
    """Return the digest of a browser's secret that is stored."""
    return digest(CredentialKind.PORTAL_BROWSER, browser.encode())


async def read_flow(records: Records, key: FlowKey) -> Flow | None:
    """Return the flow if this browser began it."""
    flow = await records.flows.get(key.flow_id)
    if flow is None or not hmac.compare_digest(flow.browser_digest, browser_digest(key.browser)):
        return None
    return flow


async def view_of(
    records: Records,
    flow: Flow,
    account: Account | None,
    supporters: SupporterPolicy,
    *,
    at: datetime,
    makes_keys: bool,
) -> View | None:
    """Collect what the flow's step depends on; None if its app is gone.

    makes_keys: whether keys of a printer's own software can be created here at all. While remote
    control is locked, no printer creates any.
    """
    app = await records.apps.get(flow.app_id)
    if app is None:
        return None
    if account is not None and await is_locked(records, account.account_id):
        makes_keys = False
    rows = await records.printers.rows_of_account(account.account_id) if account else []
    printers = tuple(
        sorted((_printer(row, at) for row in rows), key=lambda printer: not printer.is_online)
    )
    facts = Facts(
        account_id=account.account_id if account else None,
        printer_ids=tuple(row.printer.printer_id for row in printers),
        is_supporter=account is not None and may_connect_apps(supporters, account, at),
        with_keys=frozenset(
            row.printer.printer_id for row in printers if makes_keys and _can_make_key(row)
        ),
    )
    seen = as_seen_by(flow, account.account_id) if account else flow
    chosen = chosen_printer(seen, facts)
    return View(
        flow=seen,
        facts=facts,
        app=app,
        step=step_of(flow, facts, at),
        printers=printers,
        printer=next((row for row in printers if row.printer.printer_id == chosen), None),
        preselected=preselected_printer(seen, facts),
        earlier=await _connections_of_app(records, flow.app_id, account, at),
    )


async def _connections_of_app(
    records: Records, app_id: str, account: Account | None, at: datetime
) -> Mapping[str, Sequence[Connection]]:
    """Return the app's connections to the account's printers that are in force, by printer id."""
    found: dict[str, list[Connection]] = {}
    for connection in await records.connections.of_account(account.account_id) if account else []:
        if connection.app_id == app_id and not has_ended(connection, at):
            found.setdefault(connection.printer_id or "", []).append(connection)
    return found


async def is_locked(records: Records, account_id: str) -> bool:
    """Return whether remote control is locked now; what a session knows of its account may be
    older."""
    account = await records.accounts.get(account_id)
    return account is None or account.is_locked


def _printer(row: PrinterRow, at: datetime) -> PrinterHere:
    return PrinterHere(row.printer, is_online(row.printer, row.node_alive_at, at))


def _can_make_key(one: PrinterHere) -> bool:
    return one.is_online and facts_of(one.printer.platform).key_maker != ""
