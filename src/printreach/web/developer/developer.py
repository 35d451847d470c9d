"""What the routes for developers work with, and their first page."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from litestar import MediaType, Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery

from printreach.hub.developers import Developers
from printreach.web.accounts.forms import page
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

SAID: Final[Mapping[str, str]] = MappingProxyType(
    {
        "registered": "The app is registered.",
        "changed": "The app is changed.",
        "removed": "The app is removed.",
        "disabled": "The key is disabled.",
        "switched": "Saved.",
    }
)
"""What a page says once after a form, by the word in its address; no other text gets in."""


async def provide_developers(services: NamedDependency[Services]) -> Developers:
    return services.developers


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
        said=SAID.get(said or "", ""),
    )
