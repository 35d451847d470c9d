"""The port of an agent's page in its network: 0 where it has none, none where it is older."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    op.add_column("printers", sa.Column("lan_port", sa.Integer))
