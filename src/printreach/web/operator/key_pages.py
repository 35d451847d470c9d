"""Keys of the failure-detection API, everybody's: found and disabled."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from printreach.web.accounts.forms import Fields
from printreach.web.operator.desk import SAID, Desk, back, found
from printreach.web.operator.listing import listed, read_search

KEYS: Final = "/operator/keys"
_DISABLE: Final = KEYS + "/{key_id:str}/disable"


@get(KEYS, media_type=MediaType.HTML)
async def keys_page(
    desk: NamedDependency[Desk],
    q: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
    said: FromQuery[str | None] = None,
) -> Response[Any]:
    """List them, disabled ones included, or those that were searched for."""
    search = read_search(q, page)
    return desk.page(
        "keys.html",
        listing=listed(KEYS, await desk.hub.find_keys(search), search),
        said=SAID.get(said or "", ""),
    )


@get(_DISABLE, media_type=MediaType.HTML)
async def ask_to_disable(key_id: FromPath[str], desk: NamedDependency[Desk]) -> Response[Any]:
    """Ask before somebody's programs are refused."""
    return desk.page("disable_key.html", row=found(await desk.hub.key(key_id)))


@post(_DISABLE, media_type=MediaType.HTML)
async def disable(
    key_id: FromPath[str], fields: NamedDependency[Fields], desk: NamedDependency[Desk]
) -> Response[Any]:
    """It works no more, for good."""
    row = found(await desk.hub.key(key_id))
    refused = await desk.proved(fields)
    if refused is not None:
        return desk.page("disable_key.html", refused, row=row)
    found(await desk.hub.keys.disable_any(key_id, desk.by))
    return back(KEYS, "disabled")


KEY_PAGES = [keys_page, ask_to_disable, disable]
