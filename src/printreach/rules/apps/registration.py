"""Rules for registering apps: who, under which id, and with how many connections."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from printreach.languages import N_
from printreach.rules.accounts import Account
from printreach.rules.apps import (
    App,
    is_anybodys_scheme,
    problem_with_app_id,
    problem_with_app_name,
    problem_with_return_prefixes,
)
from printreach.rules.portal.parameters import logo_origin

_PRODUCT: Final = "printreach"
_ALIKE: Final = {
    ord(letter): same
    for same, letters in {
        "a": "\u0430\u03b1\u0251",
        "b": "\u044c\u0432\u03b2",
        "c": "\u0441\u03f2",
        "d": "\u0501",
        "e": "\u0435\u0454\u03b5",
        "g": "\u0261\u0581",
        "h": "\u04bb\u0570\u043d\u03b7",
        "k": "\u043a\u03ba",
        "l": "1i|!\u0131\u0456\u04cf\u03b9\u0406\u01c0",
        "j": "\u0458\u03f3",
        "m": "\u043c",
        "n": "\u0578\u0572",
        "o": "0\u043e\u03bf\u03c3\u0585",
        "p": "\u0440\u03c1",
        "q": "\u051b",
        "r": "\u0433",
        "s": "5$\u0455",
        "t": "\u0442\u03c4",
        "u": "\u03c5\u057d\u028b",
        "v": "\u03bd\u0475",
        "w": "\u051d\u0461\u03c9\u0561",
        "x": "\u0445\u03c7",
        "y": "\u0443\u04af\u03b3",
        "z": "\u03b6",
    }.items()
    for letter in letters
}
_PAIRS_ALIKE: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def look_of(name: str) -> str:
    """Return a key that is equal for names that look the same to a person; "" for no name.

    Case, accents, spaces, punctuation and letters of other scripts that look alike don't count.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    look = "".join(letter for letter in plain.translate(_ALIKE) if letter.isalnum())
    for pair, letter in _PAIRS_ALIKE:
        look = look.replace(pair, letter)
    # Names of symbols alone look as they are written.
    return look or name.strip()


def problem_with_chosen_name(name: str) -> str | None:
    """Return a sentence where only an operator may give an app this name."""
    if look_of(_PRODUCT) in look_of(name):
        return N_("The name of this service can't be part of an app's name. Choose another.")
    if len(_scripts(name)) > 1:
        return N_(
            "This name mixes letters of several scripts, which can look like another's. Use one."
        )
    return None


def _scripts(name: str) -> set[str]:
    """Latin, Cyrillic and so on: the first word of each letter's name in Unicode.

    The scripts of Japanese, which belong together in writing, count as one, and so do Chinese and
    Korean with them.
    """
    first_words = {
        unicodedata.name(character, "?").split()[0] for character in name if character.isalpha()
    }
    together = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA"}
    return {"CJK" if word in together else word for word in first_words}


MAX_APPS: Final = 20
"""The most apps of one account."""
MAX_APP_IDS: Final = 100
"""The most app ids of one account, removed apps included: their ids stay reserved for it."""
MAX_QUOTA: Final = 1_000_000


class AppPolicy(StrEnum):
    """The accounts that may register apps."""

    OPEN = "open"
    OPERATORS = "operators"


@dataclass(frozen=True, kw_only=True, slots=True)
class AppIdHolder:
    """The holder of an app id. owner_id: None for the operator."""

    owner_id: str | None
    is_removed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class AppDraft:
    """An app as its developer wants it; the fields are those of App."""

    app_id: str
    name: str
    return_prefixes: tuple[str, ...] = ()
    returns_to_lan: bool = False
    logo_url: str | None = None
    takes_other_logos: bool = True
    max_connections: int | None = None
    max_connections_a_printer: int | None = None


def problems_with(draft: AppDraft) -> Mapping[str, str]:
    """Return a sentence for each field of the draft that is not allowed."""
    found = {
        "name": problem_with_app_name(draft.name),
        "app_id": problem_with_app_id(draft.app_id),
        "return_prefixes": problem_with_return_prefixes(draft.return_prefixes),
        "logo_url": problem_with_logo(draft.logo_url, takes_other_logos=draft.takes_other_logos),
        "max_connections": problem_with_quota(draft.max_connections),
        "max_connections_a_printer": problem_with_quota(draft.max_connections_a_printer),
    }
    return {name: problem for name, problem in found.items() if problem is not None}


def problems_with_own(draft: AppDraft, before: App | None = None) -> Mapping[str, str]:
    """Return the problems for a developer: reserved names and schemes count, too.

    before: the app as it is; the name and the return addresses that it has may stay.
    """
    found = dict(problems_with(draft))
    name = problem_with_chosen_name(draft.name)
    if name is not None and (before is None or draft.name != before.name):
        found.setdefault("name", name)
    registered = () if before is None else before.return_prefixes
    for prefix in draft.return_prefixes:
        if prefix not in registered and is_anybodys_scheme(prefix.partition(":")[0].lower()):
            found.setdefault(
                "return_prefixes",
                N_(
                    "%(prefix)s has a scheme that any app could claim. Use a domain of yours the "
                    "other way round, such as com.example.app://done, or an https address.",
                    prefix=prefix,
                ),
            )
    return found


def stays_checked(before: App, after: App) -> bool:
    """Whether an app's name, texts and addresses are still those that an operator approved."""
    return before.was_checked and all(
        getattr(before, name) == getattr(after, name)
        for name in ("name", "return_prefixes", "returns_to_lan", "logo_url", "takes_other_logos")
    )


def may_register_apps(policy: AppPolicy, account: Account) -> bool:
    """Whether this account may register an app of its own."""
    if account.verified_at is None:
        return False
    return policy is AppPolicy.OPEN or account.is_admin


def may_take_id(holders: Iterable[AppIdHolder], owner_id: str | None) -> bool:
    """Whether an app id is free for that owner.

    The id of an app that was removed stays with who had it: phones still have the app, and what
    it asks people for must not become somebody else's.
    """
    return all(holder.is_removed and holder.owner_id == owner_id for holder in holders)


def problem_with_logo(logo_url: str | None, *, takes_other_logos: bool) -> str | None:
    """Return a sentence where an app cannot have this logo."""
    if logo_url is None:
        return None if takes_other_logos else N_("Give the logo that is to be the only one.")
    if logo_origin(logo_url) is None:
        return N_("A logo's address begins with https:// and a host name.")
    return None


def logo_of(app: App, sent: str | None) -> str | None:
    """Return the logo that people see. sent: by the app, when it opened the portal."""
    return (sent if app.takes_other_logos else None) or app.logo_url


def problem_with_quota(quota: int | None) -> str | None:
    """Return a sentence where this is no valid maximum of an app's connections."""
    if quota is None or 1 <= quota <= MAX_QUOTA:
        return None
    return N_(
        "Give a number from 1 to %(max_quota)s, or leave it empty.", max_quota=f"{MAX_QUOTA:,}"
    )


def quota_reached(app: App, living: int, on_printer: int) -> str | None:
    """Return a sentence where the app can have no more connections.

    living: its App Connections of everybody. on_printer: those to the one printer.
    """
    if app.max_connections is not None and living >= app.max_connections:
        return N_("%(name)s has as many connections as it is registered for.", name=app.name)
    most = app.max_connections_a_printer
    if most is not None and on_printer >= most:
        return N_(
            "%(name)s is connected to this printer already; end a connection of it first.",
            name=app.name,
        )
    return None
