"""The audit log of operators' acts, for the other operators to read."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

ACTS_KEPT: Final = timedelta(days=730)
BACKUP_IS_DUE_AFTER: Final = timedelta(days=7)
"""Without a backup for longer, operators are reminded of it."""
LONGEST_SUBJECT: Final = 300
LONGEST_DETAIL: Final = 500


class OperatorAct(StrEnum):
    """The kinds of acts, as they are stored."""

    ACCOUNT_ADDED = "account-added"
    ACCOUNT_DELETED = "account-deleted"
    ACCOUNT_RESET = "account-reset"
    ACCOUNT_BLOCKED = "account-blocked"
    ACCOUNT_UNBLOCKED = "account-unblocked"
    ACCOUNT_LOCKED = "account-locked"
    ACCOUNT_UNLOCKED = "account-unlocked"
    INVITED = "invited"
    OPERATOR_MADE = "operator-made"
    OPERATOR_UNMADE = "operator-unmade"
    SUPPORTER_CHANGED = "supporter-changed"
    LIMITS_CHANGED = "limits-changed"
    APP_ADDED = "app-added"
    APP_CHANGED = "app-changed"
    APP_REMOVED = "app-removed"
    PRINTER_LINKED = "printer-linked"
    PRINTER_OPENED = "printer-opened"
    PRINTER_REMOVED = "printer-removed"
    CONNECTION_ADDED = "connection-added"
    CONNECTION_ENDED = "connection-ended"
    KEY_MADE = "key-made"
    KEY_DISABLED = "key-disabled"
    BILLING_CHANGED = "billing-changed"
    CUSTOMER_FORGOTTEN = "customer-forgotten"
    CLAIM_RELEASED = "claim-released"
    BACKUP_MADE = "backup-made"
    BACKUP_RESTORED = "backup-restored"


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """The operator. name: an account's address, or the command line. account_id: of an account."""

    name: str
    account_id: str | None = None


COMMAND_LINE: Final = Operator(name="printreach admin")


@dataclass(frozen=True, kw_only=True, slots=True)
class ActDone:
    """One entry of the audit log. subject: what was acted on; detail: how, never a secret."""

    at: datetime
    operator: str
    act: OperatorAct
    subject: str
    detail: str
