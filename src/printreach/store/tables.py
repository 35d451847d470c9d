"""The tables. A change here needs a migration: `tests/backends` compares the two."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    exists,
    false,
    true,
)
from sqlalchemy.sql.expression import text
from sqlalchemy.types import TypeDecorator

from printreach.contract.cameras import CameraChoice, format_choices, parse_choices
from printreach.contract.permissions import (
    ALL_PERMISSIONS,
    Permission,
    format_permissions,
    parse_permissions,
)


class Instant(TypeDecorator[datetime]):
    """An aware time, stored in UTC. SQLite has no zones of its own and would drop them."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Refuse a naive time, whose meaning is unknown."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Add the zone again."""
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


class Permissions(TypeDecorator[frozenset[Permission]]):
    """Permissions, as text with commas between them. Raises ValueError for an unknown word."""

    impl = String(64)
    cache_ok = True

    def process_bind_param(
        self, value: frozenset[Permission] | None, _dialect: Dialect
    ) -> str | None:
        """Write them in one order, so that equal sets are equal texts."""
        return None if value is None else format_permissions(value)

    def process_result_value(
        self, value: str | None, _dialect: Dialect
    ) -> frozenset[Permission] | None:
        return None if value is None else parse_permissions(value)


class CameraChoices(TypeDecorator[tuple[CameraChoice, ...]]):
    """The choices of a printer's owner for its cameras, as JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(
        self, value: tuple[CameraChoice, ...] | None, _dialect: Dialect
    ) -> str | None:
        """Write them as JSON."""
        return None if value is None else format_choices(value)

    def process_result_value(
        self, value: str | None, _dialect: Dialect
    ) -> tuple[CameraChoice, ...] | None:
        return None if value is None else parse_choices(value)


def _permissions() -> Column[frozenset[Permission]]:
    """The permissions of a connection; by default all."""
    text = format_permissions(ALL_PERMISSIONS)
    return Column("permissions", Permissions, nullable=False, server_default=text)


Number = BigInteger().with_variant(Integer(), "sqlite")
"""Of rows that are counted, as they come. SQLite's integers are as long, and no other counts."""

READABLE = {"readable": True}
"""In a column's info: bytes that are JSON. Other bytes are digests, keys or sealed, and not
exported."""

# Named, so that a later migration can alter or drop them.
metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def where(condition: str) -> dict[str, Any]:
    """Return the options by which a migration makes an index for rows that meet the condition."""
    return {**where_on_sqlite(condition), "postgresql_where": text(condition)}


def where_on_sqlite(condition: str) -> dict[str, Any]:
    """Return those of a table's index; PostgreSQL's would load its dialect, of 2.4 MB."""
    return {"sqlite_where": text(condition)}


accounts = Table(
    "accounts",
    metadata,
    Column("account_id", String(64), primary_key=True),
    Column("email", String(254), nullable=False),
    Column("email_key", String(508), nullable=False, unique=True),
    Column("password_hash", String(255), nullable=False),
    Column("is_admin", Boolean, nullable=False),
    Column("supporter_granted", Boolean, nullable=False),
    Column("supporter_until", Instant),
    Column("created_at", Instant, nullable=False),
    Column("verified_at", Instant),
    Column("paid_until", Instant),
    Column("blocked_at", Instant),
    Column("locked_at", Instant),
    Column("language", String(16), nullable=False, server_default=""),
    Column("browser_language", String(16), nullable=False, server_default=""),
    Column("wrong_link_tries", Integer, nullable=False),
    Column("last_wrong_link_try_at", Instant),
)

apps = Table(
    "apps",
    metadata,
    Column("app_id", String(64), primary_key=True),
    Column("name", String(60), nullable=False),
    Column("return_prefixes", JSON, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("returns_to_lan", Boolean, nullable=False, server_default=false()),
    Column("owner_id", ForeignKey(accounts.c.account_id, ondelete="SET NULL"), index=True),
    Column("logo_url", String(2048)),
    Column("takes_other_logos", Boolean, nullable=False, server_default=true()),
    Column("max_connections", Integer),
    Column("max_connections_a_printer", Integer),
    Column("removed_at", Instant),
    Column("was_checked", Boolean, nullable=False, server_default=false()),
    # rules.apps.registration.look_of(name)
    Column("look", String(240), nullable=False, server_default="", index=True),
)

printers = Table(
    "printers",
    metadata,
    Column("printer_id", String(64), primary_key=True),
    Column(
        "account_id",
        ForeignKey(accounts.c.account_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("name", String(60), nullable=False),
    Column("public_key", LargeBinary, nullable=False),
    Column("linked_at", Instant, nullable=False),
    Column("removed_at", Instant),
    Column("platform", String(64)),
    Column("agent_version", String(64)),
    Column("lan_ip", String(64)),
    Column("lan_port", Integer),
    Column("node_id", String(64)),
    Column("connected_at", Instant),
    Column("disconnected_at", Instant),
    Column("cameras", CameraChoices, nullable=False, server_default="[]"),
)

link_codes = Table(
    "link_codes",
    metadata,
    Column("printer_id", String(64), primary_key=True),
    Column("code_digest", LargeBinary(32), nullable=False, unique=True),
    Column("public_key", LargeBinary, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

# A connection outlives its account and printer as an ended one, so that its app gets 604.
connections = Table(
    "connections",
    metadata,
    Column("connection_id", String(64), primary_key=True),
    Column("unique_id", String(63), nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("app_id", ForeignKey(apps.c.app_id), index=True),
    Column("printer_id", ForeignKey(printers.c.printer_id, ondelete="SET NULL"), index=True),
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="SET NULL"), index=True),
    Column("port", Integer, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("revoked_at", Instant),
    Column("expires_at", Instant),
    Column("used_at", Instant),
    _permissions(),
    Column("name", String(60), nullable=False, server_default=""),
    Column("basic_digest", LargeBinary(32)),
    Column("bearer_digest", LargeBinary(32)),
    Column("app_api_token_digest", LargeBinary(32), unique=True),
)


def _session() -> Column[str]:
    """The session that asked for it, whose end deletes it; null where a command did."""
    return Column(
        "session_id",
        String(64),
        ForeignKey("sessions.session_id", ondelete="CASCADE"),
        index=True,
    )


def _connection() -> Column[str]:
    """A reference to a connection, whose deletion deletes the row."""
    reference = ForeignKey(connections.c.connection_id, ondelete="CASCADE")
    return Column("connection_id", reference, nullable=False, index=True)


open_tickets = Table(
    "open_tickets",
    metadata,
    Column("ticket_digest", LargeBinary(32), primary_key=True),
    _connection(),
    _session(),
    Column("expires_at", Instant, nullable=False),
)

cookie_sessions = Table(
    "cookie_sessions",
    metadata,
    Column("cookie_digest", LargeBinary(32), primary_key=True),
    _connection(),
    _session(),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

# A portal flow; of no use after a day.
portal_flows = Table(
    "portal_flows",
    metadata,
    Column("flow_id", String(64), primary_key=True),
    Column("browser_digest", LargeBinary(32), nullable=False),
    Column("app_id", ForeignKey(apps.c.app_id, ondelete="CASCADE"), nullable=False),
    Column("return_url", String(2048), nullable=False),
    Column("asked_printer_id", String(64)),
    Column("logo_url", String(2048)),
    Column("key_app_name", String(60)),
    Column("begun_at", Instant, nullable=False, index=True),
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), index=True),
    Column("takes_own_printer", Boolean, nullable=False),
    Column("unnamed_printer_id", String(64)),
    Column("printer_id", String(64)),
    Column("is_allowed", Boolean, nullable=False),
    Column("connection_id", String(64)),
    Column("error", String(32)),
    _permissions(),
    Column("replaces_earlier", Boolean, nullable=False, server_default=false()),
)

nodes = Table(
    "nodes",
    metadata,
    Column("node_id", String(64), primary_key=True),
    Column("alive_at", Instant, nullable=False),
)

# AUTOINCREMENT: an id that was pruned must not come again, since readers ask for higher ones.
notices = Table(
    "notices",
    metadata,
    Column("notice_id", Number, primary_key=True),
    Column("topic", String(16), nullable=False),
    Column("key", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_notices_at", "at"),
    sqlite_autoincrement=True,
)


# AUTOINCREMENT: the number of a row that was pruned must not come again.
events = Table(
    "events",
    metadata,
    Column("seq", Number, primary_key=True),
    Column("printer_id", String(64), nullable=False),
    Column("event_id", String(64), nullable=False),
    # An event stays with the account it happened in, also when the printer has another.
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), nullable=False),
    Column("content", LargeBinary, nullable=False, info=READABLE),
    Column("received_at", Instant, nullable=False),
    Column("snapshot_id", String(64)),
    # The order in which they were handed out; a printer whose picture takes long comes later. Below
    # 0: it was set aside, since it cannot be decoded.
    Column("position", Number),
    Index("uq_events_event_id", "event_id", "printer_id", unique=True),
    Index("ix_events_account_id", "account_id", "position"),
    Index("ix_events_position", "position", unique=True),
    Index("ix_events_awaiting", "seq", **where_on_sqlite("position IS NULL")),
    Index("ix_events_received_at", "received_at"),
    sqlite_autoincrement=True,
)


def _limits() -> list[Column[Any]]:
    """The columns of limits, each null if it was not decided."""
    return [
        Column("upload_bytes", BigInteger),
        Column("download_bytes", BigInteger),
        Column("webcam_stream_s", Integer),
        Column("app_connections", Integer),
        Column("requests_a_minute", Integer),
    ]


account_limits = Table(
    "account_limits",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    *_limits(),
)

# One row, or none.
service_limits = Table(
    "service_limits",
    metadata,
    Column("row_id", Integer, primary_key=True, autoincrement=False),
    *_limits(),
)

# Without a reference to accounts: the log stays when an account is deleted.
operator_acts = Table(
    "operator_acts",
    metadata,
    Column("act_id", Number, primary_key=True),
    Column("at", Instant, nullable=False, index=True),
    Column("operator", String(254), nullable=False),
    Column("operator_id", String(64)),
    Column("act", String(32), nullable=False),
    Column("subject", String(300), nullable=False),
    Column("detail", String(500), nullable=False),
    sqlite_autoincrement=True,
)


def account_column(*, primary_key: bool = False, nullable: bool = False) -> Column[str]:
    """Return a reference to an account, whose deletion deletes the row."""
    return Column(
        "account_id",
        String(64),
        ForeignKey(accounts.c.account_id, ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=nullable,
        index=not primary_key,
    )


def printer_column(*, primary_key: bool = False) -> Column[str]:
    """Return a reference to a printer, whose deletion deletes the row."""
    reference = ForeignKey(printers.c.printer_id, ondelete="CASCADE")
    return Column("printer_id", String(64), reference, nullable=False, primary_key=primary_key)


def is_owners(table: Table) -> ColumnElement[bool]:
    """Match rows whose account owns their printer at present."""
    return exists().where(
        printers.c.printer_id == table.c.printer_id,
        printers.c.account_id == table.c.account_id,
        printers.c.removed_at.is_(None),
    )


def is_active_owners(table: Table) -> ColumnElement[bool]:
    """Match rows whose account owns their printer at present, and is not blocked."""
    owner = exists().where(
        accounts.c.account_id == table.c.account_id, accounts.c.blocked_at.is_(None)
    )
    return is_owners(table) & owner
