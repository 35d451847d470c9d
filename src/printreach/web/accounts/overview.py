"""The account page with its lists, and export and deletion of an account's data."""

import base64
import binascii
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import ValidationException
from litestar.response import Redirect, Stream, Template

from printreach.hub.accounts.data import Row
from printreach.hub.denied import Denied
from printreach.languages import NAMES, _, ngettext
from printreach.rules.accounts import price_in_words
from printreach.rules.accounts.oidc import Identity
from printreach.rules.accounts.sessions import browser_in_words, is_fresh
from printreach.rules.connections import ConnectionKind
from printreach.rules.prints.timelapse import KEPT_DAYS
from printreach.rules.rate_limits import TooSoon
from printreach.web.cookies import SESSION, Cookies
from printreach.web.disconnects import closing
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields, page
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

PAGE: Final = "/account"
SECURITY: Final = "/account/security"


async def account_page(
    signed_in: SignedIn,
    fault: Denied | TooSoon | None = None,
    field: str = "",
    *,
    typed_price: tuple[str, str] | None = None,
) -> Response[Any]:
    """Render the account's page as it is now, with the error of a form on it.

    typed_price: the price of filament and its currency, where they were refused.
    """
    standing = await signed_in.services.billing.standing(signed_in.account)
    price = await signed_in.services.owner.filament_price(signed_in.account_id)
    kept = ("", "") if price is None else (price_in_words(price), price.currency)
    timelapses = signed_in.services.timelapses
    shown = {
        **_who(signed_in),
        "standing": standing,
        "price": typed_price or kept,
        "languages": [("", _("As the browser says")), *NAMES.items()],
        "has_timelapses": timelapses.is_offered,
        "days": str(await timelapses.days_of(signed_in.account_id)),
        "days_offered": [(str(days), _kept_for(days)) for days in KEPT_DAYS],
    }
    return page("account/account.html", fault, field, **shown)


def _kept_for(days: int) -> str:
    if days == 0:
        return _("No timelapses")
    return _("A year") if days == KEPT_DAYS[-1] else ngettext("%(num)s day", "%(num)s days", days)


async def security_page(
    signed_in: SignedIn, fault: Denied | TooSoon | None = None, field: str = ""
) -> Response[Any]:
    """Render the page about signing in as it is now, with the error of a form on it."""
    account_id = signed_in.account_id
    codes_left = await signed_in.services.owner.codes_left(account_id)
    shown = {
        **_who(signed_in),
        "has_totp": codes_left is not None,
        "codes_left": codes_left,
        "passkeys": await signed_in.services.passkeys.of_account(account_id),
        "passkey_id_of": passkey_id_of,
        "sessions": await signed_in.services.sessions.of_account(account_id),
        "this_session_id": signed_in.session_id,
        "browser_in_words": browser_in_words,
        "identities": [
            (_provider_name(identity, signed_in.services), identity)
            for identity in await signed_in.services.other_accounts.of_account(account_id)
        ],
    }
    return page("account/security.html", fault, field, **shown)


def _who(signed_in: SignedIn) -> dict[str, Any]:
    is_proven = is_fresh(signed_in.session, signed_in.services.clock.now())
    return {"account": signed_in.account, "is_fresh": is_proven}


@get(PAGE, media_type=MediaType.HTML)
async def show_account(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Show the account."""
    return await account_page(signed_in)


@get(SECURITY, media_type=MediaType.HTML)
async def show_security(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Show how its owner signs in, and where they are signed in."""
    return await security_page(signed_in)


@post("/account/filament", media_type=MediaType.HTML)
async def set_filament_price(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Set what a kilogram of filament costs, or that it isn't known."""
    typed = fields["price"], fields["currency"]
    refused = await signed_in.services.owner.set_filament_price(signed_in.account_id, *typed)
    if refused is not None:
        return await account_page(signed_in, refused, "price", typed_price=typed)
    return redirect_with_flash(PAGE, "price")


@post("/account/language", media_type=MediaType.HTML)
async def choose_language(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Redirect:
    """Choose the language of pages and messages."""
    await signed_in.services.owner.set_language(signed_in.account_id, fields["language"])
    return redirect_with_flash(PAGE, "language")


@post("/account/timelapses", media_type=MediaType.HTML)
async def choose_timelapses(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Redirect:
    """Choose for how long the videos of prints are kept."""
    timelapses = signed_in.services.timelapses
    if not await timelapses.choose_days(signed_in.account_id, fields["days"]):
        raise ValidationException("Choose one of the times in the list")
    return redirect_with_flash(PAGE, "timelapses")


@post("/account/sessions/end", media_type=MediaType.HTML)
async def end_a_session(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Sign out one of the account's browsers."""
    await signed_in.services.sessions.end(signed_in.account_id, fields["session"])
    return Redirect(f"{SECURITY}#sessions", status_code=303)


@post("/account/sessions/end-others", media_type=MediaType.HTML)
async def end_other_sessions(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Sign out every other browser."""
    await signed_in.services.sessions.end_others(signed_in.account_id, signed_in.session_id)
    return Redirect(f"{SECURITY}#sessions", status_code=303)


def passkey_id_of(credential_id: bytes) -> str:
    """Format a credential's id as text."""
    return base64.urlsafe_b64encode(credential_id).decode().rstrip("=")


def parse_passkey_id(text: str) -> bytes:
    """Parse a credential's id; empty bytes if the text is invalid."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return b""


def _provider_name(identity: Identity, services: Services) -> str:
    """Return the name of the operator's provider, or the host of an earlier one."""
    provider = services.other_accounts.provider
    if provider is not None and provider.issuer == identity.issuer:
        return provider.name
    return urlsplit(identity.issuer).hostname or identity.issuer


_DELETED: Final = "/account/deleted"


@get("/account/export", media_type=MediaType.JSON)
async def export(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Stream all data stored about the account as a file; it breaks off if the access ends."""
    head = await signed_in.services.account_data.export(signed_in.account)
    rows = signed_in.services.account_data.rows(signed_in.account)
    name = f"printreach-{signed_in.services.clock.now():%Y-%m-%d}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    file = signed_in.services.leases.pieces(signed_in.access, _file(head, rows))
    return Stream(file, media_type=MediaType.JSON, headers=headers, background=closing(file))


async def _file(
    head: Mapping[str, object], rows: AsyncIterator[tuple[str, Sequence[Row]]]
) -> AsyncGenerator[bytes, None]:
    """Yield one JSON object piece by piece. It stays unfinished if the store or the account goes
    away.
    """
    text = msgspec.json.format(msgspec.json.encode(head), indent=2)
    yield text.removesuffix(b"\n}") + b',\n  "Rows": {'
    table, before = "", b""
    async for name, some in rows:
        lines = [b"\n      " + msgspec.json.encode(row) for row in some]
        if name != table:
            yield before + b"\n    " + msgspec.json.encode(name) + b": ["
            table, before = name, b"],"
            yield b",".join(lines)
        elif lines:
            yield b"," + b",".join(lines)
    yield before.removesuffix(b",") + b"\n  }\n}\n"


@get("/account/delete", media_type=MediaType.HTML)
async def ask_to_delete(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """List what goes with the account."""
    return await _delete_page(signed_in, None)


@post("/account/delete", media_type=MediaType.HTML)
async def delete(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    jar: NamedDependency[Cookies],
) -> Response[Any]:
    """Delete the account and all of its data for good."""
    refused = await signed_in.services.account_data.delete(
        signed_in.account, signed_in.session, fields["delete-password"]
    )
    if refused is not None:
        return await _delete_page(signed_in, refused)
    await signed_in.services.invitations.log_setup_link()
    answer = Redirect(_DELETED, status_code=303)
    answer.set_cookie(jar.end(SESSION))
    return answer


@get(_DELETED, media_type=MediaType.HTML, sync_to_thread=False)
def deleted_page() -> Template:
    """Say that the account is deleted."""
    return Template("account/deleted.html")


async def _delete_page(signed_in: SignedIn, refused: Denied | TooSoon | None) -> Response[Any]:
    services, account_id = signed_in.services, signed_in.account_id
    shown = {
        **_who(signed_in),
        "last_operator": await services.account_data.accounts.last_operator(signed_in.account),
        "printers": [row.printer.name for row in await services.own_printers.rows(account_id)],
        "counts": [words for words in await _counts_of(services, account_id) if words],
    }
    return page("account/delete.html", refused, "delete-password", **shown)


async def _counts_of(services: Services, account_id: str) -> list[str | int]:
    """Count in words what an account has; 0 for what it has none of."""
    connections = services.own_connections
    apps = len(await connections.all(account_id, ConnectionKind.APP))
    shares = len(await connections.all(account_id, ConnectionKind.SHARED))
    links = len(await services.live_links.all(account_id))
    ways = len((await services.notifications.chosen(account_id)).destinations)
    tokens = len(await services.access_tokens.of_account(account_id))
    own_apps = len(await services.own_apps.all(account_id))
    return [
        apps and ngettext("%(num)s app connection", "%(num)s app connections", apps),
        shares and ngettext("%(num)s share", "%(num)s shares", shares),
        links and ngettext("%(num)s Live Link", "%(num)s Live Links", links),
        ways and ngettext("%(num)s notification channel", "%(num)s notification channels", ways),
        tokens and ngettext("%(num)s access token", "%(num)s access tokens", tokens),
        own_apps and ngettext("%(num)s registered app", "%(num)s registered apps", own_apps),
    ]


OVERVIEW = [
    *(
        show_account,
        set_filament_price,
        choose_language,
        choose_timelapses,
        show_security,
        end_a_session,
        end_other_sessions,
    ),
    *(export, ask_to_delete, delete, deleted_page),
]
