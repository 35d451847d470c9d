"""Accounts, which of them count as supporters, and what filament costs them."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from printreach.languages import punctuated

MAX_EMAIL_LENGTH = 254
"""The longest address that mail servers carry: RFC 5321, 4.5.3.1.3, less the brackets."""

_PRICE: Final = re.compile(r"(\d{1,6})(?:[.,](\d{1,2}))?", re.ASCII)
_CURRENCY: Final = re.compile(r"[^\W\d_]{1,8}|[\u0024\u00a3\u00a5\u20a0-\u20cf]")
"""Letters such as EUR or kr, or a sign."""
_MG_PER_KG: Final = 1_000_000


class SupporterPolicy(StrEnum):
    """The accounts that count as supporters."""

    EVERYONE = "everyone"
    GRANTED = "granted"


class SignUpPolicy(StrEnum):
    """The sign-ups that are allowed without the operator's command."""

    OPEN = "open"
    INVITED = "invited"
    CLOSED = "closed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """One person's account.

    password_hash: as the Passwords port made it; empty where there is no password.
    supporter_until: the first instant at which a grant is over; None means it has no end.
    paid_until: the same of what was paid for; None where nothing is.
    verified_at: when the address was shown to be theirs; nobody signs in before that.
    blocked_at: since when an operator keeps its owner out; None where nobody does.
    locked_at: since when remote control of its printers is locked; None where it isn't.
    language: that its owner has chosen, of `printreach.languages`; "" for that of the browser.
    browser_language: of the browser that signed in last.
    """

    account_id: str
    email: str
    password_hash: str
    is_admin: bool
    supporter_granted: bool
    supporter_until: datetime | None
    created_at: datetime
    verified_at: datetime | None = None
    paid_until: datetime | None = None
    blocked_at: datetime | None = None
    locked_at: datetime | None = None
    language: str = ""
    browser_language: str = ""

    @property
    def language_of_messages(self) -> str:
        """The language of mails and notifications; "" where nothing is known."""
        return self.language or self.browser_language

    @property
    def is_blocked(self) -> bool:
        """Whether sign-in to it and requests to its printers are refused."""
        return self.blocked_at is not None

    @property
    def is_locked(self) -> bool:
        """Whether remote control of its printers is refused until the owner unlocks it."""
        return self.locked_at is not None


def is_supporter(
    policy: SupporterPolicy,
    *,
    granted: bool,
    until: datetime | None,
    paid_until: datetime | None,
    at: datetime,
) -> bool:
    """Whether an account may have App Connections at that time: by a grant, or as it paid."""
    if policy is SupporterPolicy.EVERYONE:
        return True
    is_granted = granted and (until is None or at < until)
    return is_granted or (paid_until is not None and at < paid_until)


def may_connect_apps(policy: SupporterPolicy, account: Account, at: datetime) -> bool:
    """Whether the account may have App Connections at that time."""
    return is_supporter(
        policy,
        granted=account.supporter_granted,
        until=account.supporter_until,
        paid_until=account.paid_until,
        at=at,
    )


def parse_email(typed: str) -> str | None:
    """Return the address as it is stored and shown; None where it is not exactly one mailbox.

    Only a mail that arrives proves an address. But a mail server takes `a@x,b@y` for two mailboxes
    and `x<a@y` for another one than it says. So the part before the @ is a dot-atom and the host
    consists of names: RFC 5321, 4.1.2, and RFC 6531, 3.3. Quoted parts and address literals are
    refused; no provider hands them out.
    """
    email = unicodedata.normalize("NFC", typed.strip())
    name, _, host = email.rpartition("@")
    if len(email) > MAX_EMAIL_LENGTH or not email.isprintable():
        return None
    is_mailbox = _DOT_ATOM.fullmatch(name) is not None and not any(map(str.isspace, name))
    return email if is_mailbox and _is_mail_host(host) else None


def email_key(email: str) -> str:
    """Return what identifies a mailbox: the same for every spelling of an address.

    Case counts for nothing, and a host in Punycode (as browsers send it) is the same as the
    name that people type. Letters that only look alike stay apart: `ß` is not `ss`.
    """
    name, at, host = unicodedata.normalize("NFC", email.strip().lower()).rpartition("@")
    return unicodedata.normalize("NFC", name + at + ".".join(map(_in_unicode, host.split("."))))


_ATOM: Final = r"[^\s.@,;:<>()\[\]\"\\]+"
_DOT_ATOM: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_PUNYCODE: Final = "xn--"


def _is_mail_host(host: str) -> bool:
    """Whether it is a host name, in ASCII or not. Its letters have no other compatible form."""
    if unicodedata.normalize("NFKC", host) != host:
        return False
    labels = host.split(".")
    return all(map(_is_label, labels))


def _is_label(label: str) -> bool:
    if not 1 <= len(label) <= 63 or label.startswith("-") or label.endswith("-"):
        return False
    return all(
        letter == "-" or letter.isalnum() or unicodedata.category(letter).startswith("M")
        for letter in label
    )


def _in_unicode(label: str) -> str:
    """Return a label of a host as people type it."""
    if not label.startswith(_PUNYCODE):
        return label
    try:
        typed = label.removeprefix(_PUNYCODE).encode("ascii").decode("punycode").lower()
    except UnicodeError:
        return label
    return typed if _is_label(typed) and not typed.isascii() else label


@dataclass(frozen=True, kw_only=True, slots=True)
class FilamentPrice:
    """The price of a kilogram.

    cents: hundredths of the currency, above 0. currency: as its owner writes it.
    """

    cents: int
    currency: str


def parse_filament_price(price: str, currency: str) -> FilamentPrice | None:
    """Parse what was typed, "24.90" and "EUR"; None if it is no price."""
    amount, unit = _PRICE.fullmatch(price.strip()), currency.strip()
    if amount is None or _CURRENCY.fullmatch(unit) is None:
        return None
    cents = int(amount[1]) * 100 + int((amount[2] or "0").ljust(2, "0"))
    return FilamentPrice(cents=cents, currency=unit) if cents > 0 else None


def price_in_words(price: FilamentPrice) -> str:
    """Return the amount without its currency: "24.90"."""
    return f"{price.cents // 100}.{price.cents % 100:02}"


def cost_of(price: FilamentPrice | None, weight_mg: int) -> str:
    """Return what filament of a weight costs: "0.47 EUR"; "" where either is unknown."""
    if price is None or weight_mg <= 0:
        return ""
    cents = -(-price.cents * weight_mg // _MG_PER_KG)
    return f"{punctuated(f'{cents // 100}.{cents % 100:02}')} {price.currency}"
