"""Keys of the failure-detection API, and whether a call with one is admitted."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Final

from printreach.contract.detection_api import DetectionError
from printreach.rules.connections.credentials import CredentialKind, TokenBytes, digest, new_secret
from printreach.rules.detection.address_claims import AddressClaim, is_anothers
from printreach.rules.detection.usage import (
    Billing,
    Plan,
    Switches,
    is_beyond_allowance,
    switches_of,
)
from printreach.rules.safe_text import is_printable_name

KEY_PREFIX: Final = "prk_"
"""Identifies the key to people, and to programs that search for leaked secrets."""
MAX_KEYS: Final = 20
"""The most working keys of one account."""
MAX_DISABLED_KEYS: Final = 50
"""The most disabled keys of one account; beyond it the oldest are deleted."""
MAX_KEY_NAME_LENGTH: Final = 60
DEFAULT_KEY_NAME: Final = "API key"


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectionKey:
    """A key as its account knows it. last_used_at: of the last call that was answered."""

    key_id: str
    account_id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None = None
    disabled_at: datetime | None = None

    @property
    def is_disabled(self) -> bool:
        """Whether it is disabled, which is final."""
        return self.disabled_at is not None


def new_api_key(token_bytes: TokenBytes) -> str:
    """Return a fresh key with 160 random bits; only its `digest_of_api_key` is stored."""
    return KEY_PREFIX + new_secret(token_bytes)


def digest_of_api_key(api_key: str) -> bytes:
    """Return the digest by which a key is looked up; any text is allowed."""
    return digest(CredentialKind.DETECTION_KEY, api_key.encode("utf-8", "surrogateescape"))


def parse_key_name(typed: str) -> str | None:
    """Return the name as it is stored; None where it cannot be one.

    Nothing typed names it by default.
    """
    name = " ".join(typed.split()) or DEFAULT_KEY_NAME
    return name if len(name) <= MAX_KEY_NAME_LENGTH and is_printable_name(name) else None


class CallKind(Enum):
    """The kind of a call."""

    CREATE_CONTEXT = auto()
    """Costs nothing, and no allowance stops it."""
    PROCESS = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectionCaller:
    """The facts about a caller. claim: on the address that the call comes from.

    switches: None where the account never chose. calls_so_far: of the account in this month.
    is_blocked: an operator keeps the account's owner out.
    """

    key: DetectionKey
    switches: Switches | None
    claim: AddressClaim | None
    calls_so_far: int
    is_blocked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CallAdmitted:
    """The call is admitted. is_paid: it is beyond the allowance.

    network: what it claims once it is answered; None for nothing.
    """

    key: DetectionKey
    kind: CallKind
    is_paid: bool
    network: str | None = None


@dataclass(frozen=True, slots=True)
class CallRefused:
    """The call is refused. sentence: for the program's author."""

    error: DetectionError
    sentence: str


UNKNOWN_KEY = CallRefused(DetectionError.INVALID_API_KEY, "X-API-Key holds no key of this service.")


def decide(
    caller: DetectionCaller | None, plan: Plan, kind: CallKind, at: datetime
) -> CallAdmitted | CallRefused:
    """Decide in this order: key, disabled, payment, address, allowance.

    caller: None where the key is unknown.
    """
    if caller is None:
        return UNKNOWN_KEY
    switches = switches_of(caller.switches, plan)
    if caller.key.is_disabled:
        return CallRefused(DetectionError.API_KEY_DISABLED, "This key was disabled, for good.")
    if caller.is_blocked:
        return CallRefused(DetectionError.API_KEY_DISABLED, "The account of this key is blocked.")
    if switches.billing is Billing.BLOCKED:
        return CallRefused(
            DetectionError.API_KEY_BLOCKED_PAYMENT_FAILED,
            "A payment of this account failed; its owner has to settle it.",
        )
    if is_anothers(caller.claim, caller.key.account_id, at):
        return CallRefused(
            DetectionError.API_KEY_IP_RESTRICTED,
            "This address is in use by a key of another account.",
        )
    is_beyond = kind is CallKind.PROCESS and is_beyond_allowance(plan, caller.calls_so_far)
    if is_beyond and not switches.pays:
        can_pay = plan.offers_billing or switches.billing is Billing.ON
        return CallRefused(
            DetectionError.FREE_USAGE_LIMIT_REACHED,
            f"The {plan.free_calls} free calls of this month are used up. They come back with the "
            "next month, in UTC"
            + ("; or switch billing on, and free-only mode off." if can_pay else "."),
        )
    return CallAdmitted(key=caller.key, kind=kind, is_paid=is_beyond)
