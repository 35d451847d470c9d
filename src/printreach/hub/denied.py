"""Why a use case was not carried out, as a value for the caller."""

from dataclasses import dataclass
from enum import Enum, auto


class Reason(Enum):
    """The reasons that a page or a program can distinguish."""

    INVALID = auto()
    """The request itself breaks a rule; the same request would fail again."""
    NO_SUCH_ACCOUNT = auto()
    NO_SUCH_APP = auto()
    NO_SUCH_PRINTER = auto()
    NO_SUCH_CONNECTION = auto()
    NO_SUCH_KEY = auto()
    ACCOUNT_EXISTS = auto()
    APP_EXISTS = auto()
    ALREADY_LINKED = auto()
    LINK_CODE_UNKNOWN = auto()
    LINKING_LOCKED = auto()
    TOO_MANY_CONNECTIONS = auto()
    TOO_MANY_KEYS = auto()
    NO_PORT_LEFT = auto()
    WRONG_CREDENTIALS = auto()
    PAYMENTS_AWAY = auto()
    """The payment provider did not answer."""
    PAYS_ALREADY = auto()
    STEP_OVER = auto()
    """A step that was begun earlier has expired and has to be begun again."""
    BAD_PASSWORD = auto()
    """The new password is not acceptable."""
    SIGN_UP_CLOSED = auto()
    NOT_SET_UP = auto()
    """The service has no operator yet, and accepts no sign-ups before it has one."""
    BLOCKED = auto()
    """An operator has blocked the account."""
    PROVIDER_FAILED = auto()
    """The OpenID Connect provider refused or did not answer."""
    NO_ACTIVE_PRINT = auto()
    PRINTER_AWAY = auto()
    LINK_OVER = auto()
    """The link of a mail or an invitation is unknown, used or expired."""
    NOT_ALLOWED = auto()
    """The person may use the printer, but not for this."""


@dataclass(frozen=True, slots=True)
class Denied:
    """sentence: for the person who asked; it reveals nothing that they may not know."""

    reason: Reason
    sentence: str
