"""Why a use case was not carried out: a value, for whoever asked."""

from dataclasses import dataclass
from enum import Enum, auto


class Reason(Enum):
    """What a page or a program can tell apart."""

    INVALID = auto()
    """What was asked for breaks a rule by itself; asking again the same way is no use."""
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
    """The payment provider gave no answer."""
    PAYS_ALREADY = auto()
    STEP_OVER = auto()
    """What was begun before has run out; it has to be begun again."""
    BAD_PASSWORD = auto()
    """The one that was chosen cannot be one."""
    SIGN_UP_CLOSED = auto()
    NOT_SET_UP = auto()
    """The service has no operator yet, and takes no sign-ups before it has one."""
    BLOCKED = auto()
    """An operator keeps the account's owner out."""
    PROVIDER_FAILED = auto()
    """The provider of OpenID Connect said no, or nothing."""
    NO_ACTIVE_PRINT = auto()
    PRINTER_AWAY = auto()
    LINK_OVER = auto()
    """A link of a mail or an invitation that is unknown, used or too old."""


@dataclass(frozen=True, slots=True)
class Denied:
    """sentence: for the person who asked; it tells nothing that they may not know."""

    reason: Reason
    sentence: str
