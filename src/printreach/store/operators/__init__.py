"""The lists of operators, page by page, and the log of their acts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, insert, or_, select, true, update

from printreach.rules.accounts import Account, email_key
from printreach.rules.apps import App
from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.detection.access import DetectionKey
from printreach.rules.operators import (
    LONGEST_DETAIL,
    LONGEST_SUBJECT,
    ActDone,
    Operator,
    OperatorAct,
)
from printreach.rules.printers import NODE_SILENCE, Printer
from printreach.store.columns import TableRecords, columns_for
from printreach.store.detection import detection_keys
from printreach.store.listings import (
    AccountFilter,
    AccountRow,
    AppRow,
    ConnectionRow,
    Counts,
    KeyRow,
    ListPage,
    PrinterRow,
    Search,
)
from printreach.store.tables import (
    accounts,
    apps,
    connections,
    events,
    nodes,
    notices,
    operator_acts,
    printers,
)

_ACCOUNT = columns_for(Account, accounts)
_PRINTER = columns_for(Printer, printers)
_CONNECTION = columns_for(Connection, connections)
_APP = columns_for(App, apps)
_KEY = columns_for(DetectionKey, detection_keys)
_ACT = columns_for(ActDone, operator_acts)
_IS_LINKED = printers.c.removed_at.is_(None)


class OperatorRecords(TableRecords):
    """All records in pages, and the log of operators' acts."""

    async def accounts(
        self, search: Search, show: AccountFilter, at: datetime
    ) -> ListPage[AccountRow]:
        linked = (
            select(func.count())
            .where(printers.c.account_id == accounts.c.account_id, _IS_LINKED)
            .scalar_subquery()
        )
        chosen = (
            select(*_ACCOUNT, linked.label("linked"))
            .where(_holds(email_key(search.text), accounts.c.email_key), _shown(show, at))
            .order_by(accounts.c.email_key)
        )
        rows, total = await self._page(chosen, search)
        return ListPage(rows=[_account_row(row) for row in rows], total=total)

    async def printers(self, search: Search) -> ListPage[PrinterRow]:
        chosen = (
            _linked_printers()
            .where(_holds(search.text, printers.c.name, printers.c.printer_id, accounts.c.email))
            .order_by(
                _other_than(printers.c.printer_id, search.text),
                *(accounts.c.email_key, printers.c.name, printers.c.printer_id),
            )
        )
        rows, total = await self._page(chosen, search)
        return ListPage(rows=[_printer(row) for row in rows], total=total)

    async def printer(self, printer_id: str) -> PrinterRow | None:
        """A linked printer."""
        row = await self._one(_linked_printers().where(printers.c.printer_id == printer_id))
        return None if row is None else _printer(row)

    async def connection(self, connection_id: str, at: datetime) -> ConnectionRow | None:
        """A living connection."""
        chosen = _living_connections(at).where(connections.c.connection_id == connection_id)
        row = await self._one(chosen)
        return None if row is None else _connection_row(row)

    async def key(self, key_id: str) -> KeyRow | None:
        row = await self._one(_keys().where(detection_keys.c.key_id == key_id))
        return None if row is None else _key_row(row)

    async def connections(self, search: Search, at: datetime) -> ListPage[ConnectionRow]:
        """Return the connections in force, newest first."""
        chosen = (
            _living_connections(at)
            .where(
                _holds(
                    search.text,
                    connections.c.connection_id,
                    connections.c.unique_id,
                    connections.c.app_id,
                    apps.c.name,
                    printers.c.name,
                    accounts.c.email,
                ),
            )
            .order_by(
                _other_than(connections.c.connection_id, search.text),
                *(connections.c.created_at.desc(), connections.c.connection_id),
            )
        )
        rows, total = await self._page(chosen, search)
        return ListPage(rows=[_connection_row(row) for row in rows], total=total)

    async def apps(self, search: Search, at: datetime) -> ListPage[AppRow]:
        living = (
            select(func.count())
            .where(connections.c.app_id == apps.c.app_id, _lives(at))
            .scalar_subquery()
        )
        chosen = (
            select(*_APP, living.label("living"))
            .where(apps.c.removed_at.is_(None), _holds(search.text, apps.c.app_id, apps.c.name))
            .order_by(apps.c.app_id)
        )
        rows, total = await self._page(chosen, search)
        return ListPage(rows=[_app_row(row) for row in rows], total=total)

    async def keys(self, search: Search) -> ListPage[KeyRow]:
        """Return the keys, including disabled ones, newest first."""
        chosen = (
            _keys()
            .where(
                _holds(
                    search.text,
                    detection_keys.c.key_id,
                    detection_keys.c.name,
                    accounts.c.email,
                )
            )
            .order_by(
                _other_than(detection_keys.c.key_id, search.text),
                *(detection_keys.c.created_at.desc(), detection_keys.c.key_id),
            )
        )
        rows, total = await self._page(chosen, search)
        return ListPage(rows=[_key_row(row) for row in rows], total=total)

    async def counts(self, at: datetime) -> Counts:
        granted, paying = (
            _shown(show, at) for show in (AccountFilter.GRANTED, AccountFilter.PAYING)
        )
        return Counts(
            accounts=await self._count(accounts.c.account_id),
            supporters=await self._count(accounts.c.account_id, or_(granted, paying)),
            printers=await self._count(printers.c.printer_id, _IS_LINKED),
            online=await self._count(
                printers.c.printer_id,
                _IS_LINKED,
                printers.c.node_id.in_(
                    select(nodes.c.node_id).where(nodes.c.alive_at > at - NODE_SILENCE)
                ),
            ),
            apps=await self._count(apps.c.app_id, apps.c.removed_at.is_(None)),
            connections=await self._count(connections.c.connection_id, _lives(at)),
            damaged_events=await self._count(events.c.seq, events.c.position < 0),
        )

    async def other_operators(self, account_id: str) -> int:
        """Return how many operators there are besides that one, not counting blocked ones."""
        return await self._count(
            accounts.c.account_id,
            accounts.c.is_admin,
            accounts.c.blocked_at.is_(None),
            accounts.c.account_id != account_id,
        )

    async def are_others(self, account_id: str) -> bool:
        """Return whether there is any account besides that one."""
        return await self._exists(
            select(accounts.c.account_id).where(accounts.c.account_id != account_id)
        )

    async def set_admin(self, account_id: str, *, is_admin: bool) -> None:
        await self._connection.execute(
            update(accounts).where(accounts.c.account_id == account_id).values(is_admin=is_admin)
        )

    async def note(
        self, operator: Operator, at: datetime, act: OperatorAct, subject: str, detail: str = ""
    ) -> None:
        await self._connection.execute(
            insert(operator_acts).values(
                at=at,
                operator=operator.name,
                operator_id=operator.account_id,
                act=act.value,
                subject=subject[:LONGEST_SUBJECT],
                detail=detail[:LONGEST_DETAIL],
            )
        )

    async def acts(self, search: Search) -> ListPage[ActDone]:
        """Return the acts, latest first."""
        wanted = _holds(search.text, operator_acts.c.operator, operator_acts.c.subject)
        chosen = select(*_ACT).where(wanted).order_by(operator_acts.c.act_id.desc())
        rows, total = await self._page(chosen, search)
        acts = [ActDone(**{**row, "act": OperatorAct(row["act"])}) for row in rows]
        return ListPage(rows=acts, total=total)

    async def latest(self, act: OperatorAct) -> datetime | None:
        """Return when operators did that last; None if never."""
        chosen = select(func.max(operator_acts.c.at)).where(operator_acts.c.act == act.value)
        found: datetime | None = (await self._connection.execute(chosen)).scalar()
        return found

    async def newest_time(self) -> datetime | None:
        """Return the latest time that a process of the service wrote; None if none has run."""
        times = [select(func.max(column)) for column in (notices.c.at, nodes.c.alive_at)]
        found = [(await self._connection.execute(one)).scalar() for one in times]
        return max((at for at in found if at is not None), default=None)

    async def forget_acts(self, before: datetime) -> None:
        await self._connection.execute(delete(operator_acts).where(operator_acts.c.at < before))

    async def forget_subject(self, subject: str, instead: str) -> None:
        """Replace the subject of acts: an address that has to be forgotten."""
        await self._connection.execute(
            update(operator_acts).where(operator_acts.c.subject == subject).values(subject=instead)
        )

    async def _page(self, chosen: Select[Any], search: Search) -> tuple[list[dict[str, Any]], int]:
        """Return the rows of one page, and how many there are on all pages."""
        every = select(func.count()).select_from(chosen.order_by(None).subquery())
        total = await self._connection.scalar(every)
        offset = (search.number - 1) * search.size
        found = await self._connection.execute(chosen.limit(search.size).offset(offset))
        return [{**row} for row in found.mappings()], int(total or 0)

    async def _one(self, chosen: Select[Any]) -> dict[str, Any] | None:
        row = (await self._connection.execute(chosen)).mappings().one_or_none()
        return None if row is None else {**row}

    async def _count(self, column: ColumnElement[Any], *conditions: ColumnElement[bool]) -> int:
        found = await self._connection.scalar(select(func.count(column)).where(*conditions))
        return int(found or 0)


def _linked_printers() -> Select[Any]:
    return (
        select(*_PRINTER, accounts.c.email, nodes.c.alive_at)
        .join_from(printers, accounts)
        .outerjoin(nodes, nodes.c.node_id == printers.c.node_id)
        .where(_IS_LINKED)
    )


def _living_connections(at: datetime) -> Select[Any]:
    return (
        select(
            *_CONNECTION,
            apps.c.name.label("app_name"),
            printers.c.name.label("printer_name"),
            accounts.c.email.label("owner_email"),
        )
        .join_from(connections, accounts)
        .outerjoin(printers, printers.c.printer_id == connections.c.printer_id)
        .outerjoin(apps, apps.c.app_id == connections.c.app_id)
        .where(_lives(at))
    )


def _keys() -> Select[Any]:
    return select(*_KEY, accounts.c.email.label("owner_email")).join_from(detection_keys, accounts)


def _holds(text: str, *columns: ColumnElement[Any]) -> ColumnElement[bool]:
    """Match rows with the text in one of them, regardless of case; wildcards are escaped."""
    if not text:
        return true()
    return or_(*(column.icontains(text, autoescape=True) for column in columns))


def _other_than(key: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Sort the row with that id before those that only mention it, since names are free."""
    return key != text


def _shown(show: AccountFilter, at: datetime) -> ColumnElement[bool]:
    until = accounts.c.supporter_until
    shown: Mapping[AccountFilter, ColumnElement[bool]] = {
        AccountFilter.ALL: true(),
        AccountFilter.GRANTED: accounts.c.supporter_granted & (until.is_(None) | (until > at)),
        AccountFilter.PAYING: accounts.c.paid_until > at,
        AccountFilter.OPERATORS: accounts.c.is_admin,
        AccountFilter.UNCONFIRMED: accounts.c.verified_at.is_(None),
        AccountFilter.BLOCKED: accounts.c.blocked_at.is_not(None),
    }
    return shown[show]


def _lives(at: datetime) -> ColumnElement[bool]:
    ends = connections.c.expires_at
    return (
        connections.c.revoked_at.is_(None)
        & connections.c.printer_id.is_not(None)
        & (ends.is_(None) | (ends > at))
    )


def _account_row(row: dict[str, Any]) -> AccountRow:
    linked = row.pop("linked")
    return AccountRow(account=Account(**row), printers=linked)


def _printer(row: dict[str, Any]) -> PrinterRow:
    email, alive_at = row.pop("email"), row.pop("alive_at")
    return PrinterRow(printer=Printer(**row), owner_email=email, node_alive_at=alive_at)


def _connection_row(row: dict[str, Any]) -> ConnectionRow:
    names = {name: row.pop(name) or "" for name in ("app_name", "printer_name", "owner_email")}
    return ConnectionRow(
        connection=Connection(**{**row, "kind": ConnectionKind(row["kind"])}), **names
    )


def _key_row(row: dict[str, Any]) -> KeyRow:
    email = row.pop("owner_email")
    return KeyRow(key=DetectionKey(**row), owner_email=email)


def _app_row(row: dict[str, Any]) -> AppRow:
    living = row.pop("living")
    app = App(**{**row, "return_prefixes": tuple(row["return_prefixes"])})
    return AppRow(app=app, connections=living)
