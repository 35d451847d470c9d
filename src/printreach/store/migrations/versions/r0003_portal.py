"""The portal's flows, and apps that are returned to on the LAN."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Apps of before are returned to by their prefixes alone."""
    op.add_column(
        "apps",
        sa.Column("returns_to_lan", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "portal_flows",
        sa.Column("flow_id", sa.String(64), nullable=False),
        sa.Column("browser_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("app_id", sa.String(64), nullable=False),
        sa.Column("return_url", sa.String(2048), nullable=False),
        sa.Column("asked_printer_id", sa.String(64)),
        sa.Column("logo_url", sa.String(2048)),
        sa.Column("key_app_name", sa.String(60)),
        sa.Column("begun_at", _INSTANT, nullable=False),
        sa.Column("account_id", sa.String(64)),
        sa.Column("takes_own_printer", sa.Boolean(), nullable=False),
        sa.Column("unnamed_printer_id", sa.String(64)),
        sa.Column("printer_id", sa.String(64)),
        sa.Column("is_allowed", sa.Boolean(), nullable=False),
        sa.Column("connection_id", sa.String(64)),
        sa.Column("error", sa.String(32)),
        sa.PrimaryKeyConstraint("flow_id", name="pk_portal_flows"),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.app_id"], name="fk_portal_flows_app_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_portal_flows_account_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_portal_flows_begun_at", "portal_flows", ["begun_at"])
    op.create_index("ix_portal_flows_account_id", "portal_flows", ["account_id"])
