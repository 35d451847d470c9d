"""The count and the last time of a timelapse's pictures are read from the pictures."""

from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.drop_column("timelapses", "pictures")
    op.drop_column("timelapses", "taken_at")
