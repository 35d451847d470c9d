"""People at providers of OpenID Connect, and where a browser on its way in goes on to."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Browsers that are on their way in go on to the front page."""
    op.add_column(
        "steps", sa.Column("next_path", sa.String(2048), nullable=False, server_default="/")
    )
    op.create_table(
        "identities",
        sa.Column("identity_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("issuer", sa.String(512), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("used_at", _INSTANT),
        sa.PrimaryKeyConstraint("identity_id", name="pk_identities"),
        sa.UniqueConstraint("issuer", "subject", name="uq_identities_issuer"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_identities_account_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_identities_account_id", "identities", ["account_id"])
