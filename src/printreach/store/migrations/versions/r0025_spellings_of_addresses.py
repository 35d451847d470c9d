"""Accounts are told apart by another key: the same for each spelling of one mailbox, and no other.

Until now `ß` counted as `ss`. Where two accounts are of one mailbox by now, the one that was made
first has the new key, and the other one keeps the old.
"""

import sqlalchemy as sa
from alembic import op

from printreach.rules.accounts import email_key

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    connection = op.get_bind()
    accounts = sa.table(
        "accounts", *map(sa.column, ("account_id", "email", "email_key", "created_at"))
    )
    rows = connection.execute(
        sa.select(accounts.c.account_id, accounts.c.email, accounts.c.email_key).order_by(
            accounts.c.created_at
        )
    ).all()
    taken = {key for _, _, key in rows}
    for account_id, email, old in rows:
        key = email_key(email)
        if key != old and key not in taken:
            taken.add(key)
            connection.execute(
                sa.update(accounts).where(accounts.c.account_id == account_id).values(email_key=key)
            )
