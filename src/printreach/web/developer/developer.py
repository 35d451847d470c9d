"""Dependencies of the developers' routes, and their first page."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from litestar import MediaType, Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery

from printreach.hub.denied import Denied
from printreach.hub.developers import Developers
from printreach.rules.accounts.sessions import is_fresh
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.forms import Fields, page
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

REAUTH_FIELD: Final = "password"
"""The form field of the password with which developers reauthenticate."""
FLASH_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "registered": "The app is registered.",
        "changed": "The app is changed.",
        "removed": "The app is removed.",
        "disabled": "The key is disabled.",
        "switched": "Saved.",
    }
)
"""Flash messages by their key in the query parameter `said`; no other text gets in."""


async def provide_developers(services: NamedDependency[Services]) -> Developers:
    return services.developers


async def reauthenticate(
    developers: Developers, signed_in: SignedIn, fields: Fields
) -> Denied | TooSoon | None:
    """Check the password in the form; None if it is right.

    An account without a password needs a fresh session instead. Required before a
    change that outlives a browser's session: a key, or an app's return address.
    """
    return await developers.proof.of_owner(
        signed_in.account, signed_in.session, fields[REAUTH_FIELD]
    )


def reauthentication_context(services: Services, signed_in: SignedIn) -> dict[str, Any]:
    """Return the template context of a form that asks for the password."""
    return {
        "me": signed_in.account,
        "is_fresh": is_fresh(signed_in.session, services.clock.now()),
    }


@get("/developer", media_type=MediaType.HTML)
async def developer_page(
    signed_in: NamedDependency[SignedIn],
    developers: NamedDependency[Developers],
    said: FromQuery[str | None] = None,
) -> Response[Any]:
    """List apps and keys."""
    account_id = signed_in.account.account_id
    keys = await developers.keys.all(account_id)
    return page(
        "developer/developer.html",
        apps=await developers.apps.all(account_id),
        may_register=developers.apps.may_register(signed_in.account),
        keys=[one for one in keys if not one.is_disabled],
        disabled_keys=[one for one in keys if one.is_disabled],
        flash_message=FLASH_MESSAGES.get(said or "", ""),
    )
