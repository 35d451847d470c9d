"""${message}."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision: str = ${repr(up_revision)}
down_revision: str | Sequence[str] | None = ${repr(down_revision)}


def upgrade() -> None:
    """Go forward; there is no way back but a copy from before."""
    ${upgrades if upgrades else "pass"}
