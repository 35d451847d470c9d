"""Keys of the failure-detection API, everybody's: found and disabled."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from printreach.ports.operating import Search
from printreach.web.accounts.forms import Fields
from printreach.web.operator.desk import Desk, back, found
from printreach.web.operator.listing import listed

KEYS: Final = "/operator/keys"
_DISABLE: Final = KEYS + "/{key_id:str}/disable"


@get(KEYS, media_type=MediaType.HTML)
async def keys_page(desk: NamedDependency[Desk], search: NamedDependency[Search]) -> Response[Any]:
    """List them, disabled ones included, or those that were searched for."""
    rows = await desk.hub.find_keys(search)
    return desk.page("keys.html", listing=listed(KEYS, rows, search))


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
    refused = await desk.unproved(fields, "disable_key.html", row=row)
    if refused is not None:
        return refused
    found(await desk.hub.keys.disable_any(key_id, desk.by))
    return back(KEYS, "disabled")


KEY_PAGES = [keys_page, ask_to_disable, disable]
