"""Apps of accounts, and callers of the failure-detection API."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Apps of before are the operator's."""
    _add_to_apps()
    op.create_index("ix_connections_app_id", "connections", ["app_id"])
    _make_keys()
    _make_usage()
    _make_claims()


def _add_to_apps() -> None:
    # As a batch, which copies the table: SQLite can't add a constraint to one that is there.
    with op.batch_alter_table("apps") as apps:
        for column in (
            sa.Column("owner_id", sa.String(64)),
            sa.Column("logo_url", sa.String(2048)),
            sa.Column("takes_other_logos", sa.Boolean(), nullable=False, server_default=sa.true()),
            sa.Column("max_connections", sa.Integer()),
            sa.Column("max_connections_a_printer", sa.Integer()),
            sa.Column("removed_at", _INSTANT),
        ):
            apps.add_column(column)
        apps.create_foreign_key(
            "fk_apps_owner_id", "accounts", ["owner_id"], ["account_id"], ondelete="SET NULL"
        )
        apps.create_index("ix_apps_owner_id", ["owner_id"])


def _make_keys() -> None:
    op.create_table(
        "detection_keys",
        sa.Column("key_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("key_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("last_used_at", _INSTANT),
        sa.Column("disabled_at", _INSTANT),
        sa.PrimaryKeyConstraint("key_id", name="pk_detection_keys"),
        sa.UniqueConstraint("key_digest", name="uq_detection_keys_key_digest"),
        _of_account("detection_keys"),
    )
    op.create_index("ix_detection_keys_account_id", "detection_keys", ["account_id"])


def _make_usage() -> None:
    op.create_table(
        "detection_usage",
        sa.Column("key_id", sa.String(64), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("paid_calls", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", "day", name="pk_detection_usage"),
        _of_account("detection_usage"),
    )
    op.create_index("ix_detection_usage_account_id", "detection_usage", ["account_id", "day"])
    op.create_table(
        "detection_switches",
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("free_only", sa.Boolean(), nullable=False),
        sa.Column("billing", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name="pk_detection_switches"),
        _of_account("detection_switches"),
    )


def _make_claims() -> None:
    op.create_table(
        "detection_claims",
        sa.Column("network", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("claimed_at", _INSTANT, nullable=False),
        sa.Column("used_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("network", name="pk_detection_claims"),
        _of_account("detection_claims"),
    )
    op.create_index("ix_detection_claims_account_id", "detection_claims", ["account_id"])
    op.create_index("ix_detection_claims_used_at", "detection_claims", ["used_at"])


def _of_account(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["account_id"],
        ["accounts.account_id"],
        name=f"fk_{table}_account_id",
        ondelete="CASCADE",
    )
