"""The background of each camera, learnt from prints that ended well."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "watch_backgrounds",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("camera", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [column],
                [f"{to}.{column}"],
                name=op.f(f"fk_watch_backgrounds_{column}"),
                ondelete="CASCADE",
            )
            for to, column in (("printers", "printer_id"), ("accounts", "account_id"))
        ),
        sa.PrimaryKeyConstraint("printer_id", "camera", name=op.f("pk_watch_backgrounds")),
    )
    op.create_index(op.f("ix_watch_backgrounds_account_id"), "watch_backgrounds", ["account_id"])
