"""Apps: how their names look, and whether an operator has checked who is behind them."""

import sqlalchemy as sa
from alembic import op

from printreach.rules.apps.registration import look_of

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.add_column(
        "apps", sa.Column("was_checked", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("apps", sa.Column("look", sa.String(240), nullable=False, server_default=""))
    op.create_index("ix_apps_look", "apps", ["look"])
    connection = op.get_bind()
    apps = sa.table("apps", *map(sa.column, ("app_id", "name", "look", "removed_at")))
    rows = connection.execute(
        sa.select(apps.c.app_id, apps.c.name).where(apps.c.removed_at.is_(None))
    ).all()
    for app_id, name in rows:
        connection.execute(
            sa.update(apps).where(apps.c.app_id == app_id).values(look=look_of(name))
        )
