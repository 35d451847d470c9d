"""A look knows its camera: what is said of its alarm counts for that one.

Looks that are there already are taken for those of the camera that is chosen now.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("watch_looks", sa.Column("camera", sa.Integer()))
    if op.get_bind().dialect.name != "sqlite":
        return  # no other database is as old
    op.execute(
        "UPDATE watch_looks SET camera = (SELECT json_extract(CAST(content AS TEXT), '$.camera')"
        " FROM watch_settings WHERE watch_settings.printer_id = watch_looks.printer_id"
        " AND json_valid(CAST(content AS TEXT)))"
    )
