"""Sessions, mails, second factors, passkeys, invitations, and whether an address is verified."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number

revision = "0002"
down_revision = "0001"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables, and count the accounts that an operator made as verified."""
    op.add_column("accounts", sa.Column("verified_at", _INSTANT))
    op.execute("UPDATE accounts SET verified_at = created_at")
    _sessions()
    _mails()
    _second_factors()
    _passkeys()
    _others()


def _account_of(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["account_id"],
        ["accounts.account_id"],
        name=f"fk_{table}_account_id",
        ondelete="CASCADE",
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("token_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("started_at", _INSTANT, nullable=False),
        sa.Column("seen_at", _INSTANT, nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("browser", sa.String(300), nullable=False),
        sa.PrimaryKeyConstraint("token_digest", name="pk_sessions"),
        sa.UniqueConstraint("session_id", name="uq_sessions_session_id"),
        _account_of("sessions"),
    )
    op.create_index("ix_sessions_account_id", "sessions", ["account_id"])
    op.create_index("ix_sessions_seen_at", "sessions", ["seen_at"])
    op.create_table(
        "steps",
        sa.Column("token_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("awaits", sa.String(16), nullable=False),
        sa.Column("account_id", sa.String(64)),
        sa.Column("challenge", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("token_digest", name="pk_steps"),
        _account_of("steps"),
    )
    op.create_index("ix_steps_account_id", "steps", ["account_id"])
    op.create_index("ix_steps_expires_at", "steps", ["expires_at"])


def _mails() -> None:
    op.create_table(
        "mail_links",
        sa.Column("token_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("next_path", sa.String(2048), nullable=False),
        sa.Column("expires_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("token_digest", name="pk_mail_links"),
        _account_of("mail_links"),
    )
    op.create_index("ix_mail_links_account_id", "mail_links", ["account_id"])
    op.create_index("ix_mail_links_expires_at", "mail_links", ["expires_at"])


def _second_factors() -> None:
    op.create_table(
        "totp_apps",
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("confirmed_at", _INSTANT),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name="pk_totp_apps"),
        _account_of("totp_apps"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("code_digest", sa.LargeBinary(32), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "code_digest", name="pk_recovery_codes"),
        _account_of("recovery_codes"),
    )


def _passkeys() -> None:
    op.create_table(
        "passkeys",
        sa.Column("credential_id", sa.LargeBinary(1023), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", Number, nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("used_at", _INSTANT),
        sa.PrimaryKeyConstraint("credential_id", name="pk_passkeys"),
        _account_of("passkeys"),
    )
    op.create_index("ix_passkeys_account_id", "passkeys", ["account_id"])


def _others() -> None:
    op.create_table(
        "invitations",
        sa.Column("token_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("invitation_id", sa.String(64), nullable=False),
        sa.Column("email", sa.String(254)),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("supporter", sa.Boolean(), nullable=False),
        sa.Column("is_setup", sa.Boolean(), nullable=False),
        sa.Column("expires_at", _INSTANT),
        sa.PrimaryKeyConstraint("token_digest", name="pk_invitations"),
        sa.UniqueConstraint("invitation_id", name="uq_invitations_invitation_id"),
    )
    op.create_table(
        "tries",
        sa.Column("key", sa.String(160), nullable=False),
        sa.Column("busy_until", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_tries"),
    )
    op.create_index("ix_tries_busy_until", "tries", ["busy_until"])
