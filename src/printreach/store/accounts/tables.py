"""The tables of how people sign in; tables.py has the tables that they refer to."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from printreach.store.tables import Instant, Number, account_column, accounts, metadata

sessions = Table(
    "sessions",
    metadata,
    Column("token_digest", LargeBinary(32), primary_key=True),
    Column("session_id", String(64), nullable=False, unique=True),
    account_column(),
    Column("started_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False, index=True),
    Column("address", String(64), nullable=False),
    Column("browser", String(300), nullable=False),
)

steps = Table(
    "steps",
    metadata,
    Column("token_digest", LargeBinary(32), primary_key=True),
    Column("awaits", String(16), nullable=False),
    account_column(nullable=True),
    Column("challenge", LargeBinary, nullable=False),
    Column("next_path", String(2048), nullable=False, server_default="/"),
    Column("expires_at", Instant, nullable=False, index=True),
)

mail_links = Table(
    "mail_links",
    metadata,
    Column("token_digest", LargeBinary(32), primary_key=True),
    Column("purpose", String(16), nullable=False),
    account_column(),
    Column("email", String(254), nullable=False),
    Column("next_path", String(2048), nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
)

totp_apps = Table(
    "totp_apps",
    metadata,
    account_column(primary_key=True),
    Column("secret", LargeBinary, nullable=False),
    Column("is_sealed", Boolean, nullable=False, server_default=false()),
    Column("confirmed_at", Instant),
    Column("last_step", Integer, nullable=False),
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    account_column(primary_key=True),
    Column("code_digest", LargeBinary(32), primary_key=True),
)

filament_prices = Table(
    "filament_prices",
    metadata,
    account_column(primary_key=True),
    Column("cents", Integer, nullable=False),
    Column("currency", String(8), nullable=False),
)

# One row with all of them: they are changed together, and have an order.
preset_lists = Table(
    "preset_lists",
    metadata,
    account_column(primary_key=True),
    Column("presets", Text, nullable=False),
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("credential_id", LargeBinary(1023), primary_key=True),
    account_column(),
    Column("public_key", LargeBinary, nullable=False),
    Column("sign_count", Number, nullable=False),
    Column("name", String(60), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
)

identities = Table(
    "identities",
    metadata,
    Column("identity_id", String(64), primary_key=True),
    account_column(),
    Column("issuer", String(512), nullable=False),
    Column("subject", String(255), nullable=False),
    Column("email", String(254), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    UniqueConstraint("issuer", "subject"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("token_digest", LargeBinary(32), primary_key=True),
    Column("invitation_id", String(64), nullable=False, unique=True),
    Column("email", String(254)),
    Column("is_admin", Boolean, nullable=False),
    Column("supporter", Boolean, nullable=False),
    Column("is_setup", Boolean, nullable=False),
    Column("expires_at", Instant),
)

tries = Table(
    "tries",
    metadata,
    Column("key", String(160), primary_key=True),
    Column("busy_until", Instant, nullable=False, index=True),
)


# A customer stays one, whichever page of the provider was opened last.
payers = Table(
    "payers",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    Column("customer_id", String(255), unique=True),
    Column("checkout_id", String(255)),
    Column("unknown_since", Instant),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("subscription_id", String(255), primary_key=True),
    Column("customer_id", String(255), nullable=False),
    Column(
        "account_id",
        ForeignKey(accounts.c.account_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("state", String(16), nullable=False),
    Column("begun_at", Instant, nullable=False),
    Column("period_begins_at", Instant, nullable=False),
    Column("period_ends_at", Instant, nullable=False),
    Column("ends_at", Instant),
    Column("asked_at", Instant, nullable=False),
)

# So that a repeated webhook does not ask the provider again.
payment_calls = Table(
    "payment_calls",
    metadata,
    Column("event_id", String(255), primary_key=True),
    Column("at", Instant, nullable=False, index=True),
)
