"""Accounts, apps, printers, their connections, and the notices about them."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number

revision = "0001"
down_revision = None

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the first tables, each after those it refers to."""
    _people()
    _printers()
    _connections()
    _sign_in_to_printers()
    _processes()


def _people() -> None:
    op.create_table(
        "accounts",
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("email_key", sa.String(508), nullable=False),
        sa.Column("password_hash", sa.String(255), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("supporter_granted", sa.Boolean(), nullable=False),
        sa.Column("supporter_until", _INSTANT),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("wrong_link_tries", sa.Integer(), nullable=False),
        sa.Column("last_wrong_link_try_at", _INSTANT),
        sa.PrimaryKeyConstraint("account_id", name="pk_accounts"),
        sa.UniqueConstraint("email_key", name="uq_accounts_email_key"),
    )
    op.create_table(
        "apps",
        sa.Column("app_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("return_prefixes", sa.JSON(), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("app_id", name="pk_apps"),
    )


def _printers() -> None:
    op.create_table(
        "printers",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("linked_at", _INSTANT, nullable=False),
        sa.Column("removed_at", _INSTANT),
        sa.Column("platform", sa.String(64)),
        sa.Column("agent_version", sa.String(64)),
        sa.Column("lan_ip", sa.String(64)),
        sa.Column("node_id", sa.String(64)),
        sa.Column("connected_at", _INSTANT),
        sa.Column("disconnected_at", _INSTANT),
        sa.PrimaryKeyConstraint("printer_id", name="pk_printers"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_printers_account_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_printers_account_id", "printers", ["account_id"])
    op.create_table(
        "link_codes",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("code_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("printer_id", name="pk_link_codes"),
        sa.UniqueConstraint("code_digest", name="uq_link_codes_code_digest"),
    )


def _connections() -> None:
    op.create_table(
        "connections",
        sa.Column("connection_id", sa.String(64), nullable=False),
        sa.Column("unique_id", sa.String(63), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("app_id", sa.String(64)),
        sa.Column("printer_id", sa.String(64)),
        sa.Column("account_id", sa.String(64)),
        sa.Column("port", sa.Integer()),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("revoked_at", _INSTANT),
        sa.Column("expires_at", _INSTANT),
        sa.Column("basic_digest", sa.LargeBinary(32)),
        sa.Column("bearer_digest", sa.LargeBinary(32)),
        sa.Column("app_api_token_digest", sa.LargeBinary(32)),
        sa.PrimaryKeyConstraint("connection_id", name="pk_connections"),
        sa.UniqueConstraint("unique_id", name="uq_connections_unique_id"),
        sa.UniqueConstraint("port", name="uq_connections_port"),
        sa.UniqueConstraint("app_api_token_digest", name="uq_connections_app_api_token_digest"),
        sa.ForeignKeyConstraint(["app_id"], ["apps.app_id"], name="fk_connections_app_id"),
        sa.ForeignKeyConstraint(
            ["printer_id"],
            ["printers.printer_id"],
            name="fk_connections_printer_id",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_connections_account_id",
            ondelete="SET NULL",
        ),
    )
    op.create_index("ix_connections_printer_id", "connections", ["printer_id"])
    op.create_index("ix_connections_account_id", "connections", ["account_id"])


def _sign_in_to_printers() -> None:
    for table, digest, times in (
        ("open_tickets", "ticket_digest", ["expires_at"]),
        ("cookie_sessions", "cookie_digest", ["created_at", "expires_at"]),
    ):
        op.create_table(
            table,
            sa.Column(digest, sa.LargeBinary(32), nullable=False),
            sa.Column("connection_id", sa.String(64), nullable=False),
            *(sa.Column(time, _INSTANT, nullable=False) for time in times),
            sa.PrimaryKeyConstraint(digest, name=f"pk_{table}"),
            sa.ForeignKeyConstraint(
                ["connection_id"],
                ["connections.connection_id"],
                name=f"fk_{table}_connection_id",
                ondelete="CASCADE",
            ),
        )
        op.create_index(f"ix_{table}_connection_id", table, ["connection_id"])


def _processes() -> None:
    op.create_table(
        "nodes",
        sa.Column("node_id", sa.String(64), nullable=False),
        sa.Column("alive_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("node_id", name="pk_nodes"),
    )
    op.create_table(
        "notices",
        sa.Column("notice_id", Number, nullable=False),
        sa.Column("topic", sa.String(16), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("notice_id", name="pk_notices"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notices_at", "notices", ["at"])
