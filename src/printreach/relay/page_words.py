"""The texts of pages for people in a browser; the error table has the texts for apps.

Each kind of connection has another reader: the owner of a printer, somebody it is shared with, or
somebody who has found the address of an app.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.contract.errors import (
    FAILURES,
    NOT_PERMITTED,
    REMOTE_LOCKED,
    ErrorCode,
    Failure,
)
from printreach.languages import N_, _
from printreach.languages.values import day_of_year_in_words
from printreach.rules.connections import ConnectionKind, LostPrinter, Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """The reader of a page on a printer's host.

    kind: of the connection; None if there is none at that address. printers_page: the list of
    a person's printers. unlock_page: the page where owners unlock remote control. way_back: the
    dashboard's page that opens this printer again; "" if its address may not be shown. lost: the
    printer, if it is not connected and the reader has proved to be its owner.
    """

    printers_page: str
    unlock_page: str
    kind: ConnectionKind | None = None
    way_back: str = ""
    lost: LostPrinter | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A link on a page. is_main: the page's main action."""

    text: str
    href: str
    is_main: bool = False


def loss_in_words(printer: LostPrinter) -> str | None:
    """Say since when a printer is not connected; None if that is not known."""
    if printer.lost_at is None:
        return None
    return _(
        "Contact was lost at %(time)s UTC on %(day)s. A running print usually goes on by itself.",
        time=f"{printer.lost_at:%H:%M}",
        day=day_of_year_in_words(printer.lost_at),
    )


FROM_ANOTHER_SITE: Final = Failure(
    meaning=N_("This request came from another site."),
    title=N_("Another site asked for this"),
    remedy=N_("Open the printer from your list of printers, or with the link you were given."),
    temporary=False,
    name="from another site",
)
INCOMPLETE_LINK: Final = N_("This link is incomplete.")
USED_LINK: Final = N_("This link was for one use, within ten minutes.")

_NOWHERE: Final = Failure(
    meaning=N_("No printer has this address now."),
    title=N_("There's no printer here"),
    remedy=N_("Check the address for a typo, or open the printer from your list of printers."),
    temporary=False,
)
_FOR_PEOPLE: Final[Mapping[tuple[ConnectionKind | None, ErrorCode], Failure]] = MappingProxyType(
    {
        (None, ErrorCode.CONNECTION_NOT_FOUND): _NOWHERE,
        (ConnectionKind.OWN, ErrorCode.BAD_CREDENTIALS): Failure(
            meaning=N_("This browser isn't signed in to this printer."),
            title=N_("Sign in to open this printer"),
            remedy=N_("Sign in to Printreach to open it again."),
            temporary=False,
        ),
        (ConnectionKind.OWN, ErrorCode.CONNECTION_ENDED): Failure(
            meaning=N_("The printer was removed from its account, or the account is blocked."),
            title=N_("This printer can't be opened any more"),
            remedy=N_("Look for it in your list of printers."),
            temporary=False,
        ),
        (ConnectionKind.SHARED, ErrorCode.BAD_CREDENTIALS): Failure(
            meaning=N_("This browser isn't signed in to this printer."),
            title=N_("Sign in to see this printer"),
            remedy=N_("Open the link you were given, or reload this page."),
            temporary=False,
        ),
        (ConnectionKind.SHARED, ErrorCode.CONNECTION_ENDED): Failure(
            meaning=N_("Its owner has stopped sharing it, or the share has expired."),
            title=N_("This printer is no longer shared"),
            remedy=N_("Ask the owner to share it again."),
            temporary=False,
        ),
        (ConnectionKind.APP, ErrorCode.BAD_CREDENTIALS): Failure(
            meaning=N_("An app uses this address to reach a printer, with its own password."),
            title=N_("This address is for an app"),
            remedy=N_("To see your printer in a browser, open it from your list of printers."),
            temporary=False,
        ),
    }
)


def failure_for(code: ErrorCode, reader: Reader) -> Failure:
    """Return the texts of the page for that code."""
    return _FOR_PEOPLE.get((reader.kind, code), FAILURES[code])


def failure_of(refused: Refused) -> Failure | None:
    """Return the texts of a refusal with valid credentials; None if those of the code apply."""
    if refused.sentence is None:
        return None
    return REMOTE_LOCKED if refused.sentence == REMOTE_LOCKED.meaning else NOT_PERMITTED


def links_for(code: ErrorCode, reader: Reader, failure: Failure | None = None) -> list[Link]:
    """Return the links of the page; a guest of a share has no printers of their own here.

    failure: the texts of the page, if they aren't those of the code.
    """
    if reader.kind is ConnectionKind.SHARED:
        return []
    if failure is REMOTE_LOCKED:
        unlock = Link(text=N_("Unlock remote control"), href=reader.unlock_page, is_main=True)
        return [unlock, Link(text=N_("Go to my printers"), href=reader.printers_page)]
    is_about_sign_in = code is ErrorCode.BAD_CREDENTIALS and failure is not NOT_PERMITTED
    home = Link(text=N_("Go to my printers"), href=reader.printers_page)
    if reader.kind is ConnectionKind.OWN and is_about_sign_in and reader.way_back:
        text = N_("Sign in and open it") if failure is None else N_("Open the printer")
        return [Link(text=text, href=reader.way_back, is_main=True), home]
    if reader.kind is ConnectionKind.APP and is_about_sign_in:
        return [Link(text=home.text, href=home.href, is_main=True)]
    return [home]
