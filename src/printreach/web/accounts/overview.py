"""The account page and the lists on it."""

import base64
import binascii
from typing import Any, Final
from urllib.parse import urlsplit

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect

from printreach.hub.denied import Denied
from printreach.rules.accounts.oidc import Identity
from printreach.rules.accounts.sessions import browser_in_words, is_fresh
from printreach.rules.rate_limits import TooSoon
from printreach.web.forms import Fields, page, page_with_error
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

ACCOUNT = "account/account.html"
PAGE: Final = "/account"


async def account_page(
    signed_in: SignedIn, fault: Denied | TooSoon | None = None, field: str = ""
) -> Response[Any]:
    """Render the page as it is now, with the error of a form on it."""
    account_id = signed_in.account_id
    codes_left = await signed_in.services.owner.codes_left(account_id)
    shown = {
        "account": signed_in.account,
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
        "is_fresh": is_fresh(signed_in.session, signed_in.services.clock.now()),
        "standing": await signed_in.services.billing.standing(signed_in.account),
    }
    return (
        page(ACCOUNT, **shown) if fault is None else page_with_error(ACCOUNT, fault, field, **shown)
    )


@get(PAGE, media_type=MediaType.HTML)
async def show_account(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Show all about the account."""
    return await account_page(signed_in)


@post("/account/sessions/end", media_type=MediaType.HTML)
async def end_a_session(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Sign out one of the account's browsers."""
    await signed_in.services.sessions.end(signed_in.account_id, fields["session"])
    return Redirect("/account#sessions", status_code=303)


@post("/account/sessions/end-others", media_type=MediaType.HTML)
async def end_other_sessions(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Sign out every other browser."""
    await signed_in.services.sessions.end_others(signed_in.account_id, signed_in.session_id)
    return Redirect("/account#sessions", status_code=303)


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


OVERVIEW = [show_account, end_a_session, end_other_sessions]
