"""Pages that list and disable anybody's keys of the failure-detection API."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from printreach.store.listings import Search
from printreach.web.accounts.forms import Fields
from printreach.web.flash import redirect_with_flash
from printreach.web.operator.context import OperatorContext, or_404
from printreach.web.operator.listing import listed

KEYS: Final = "/operator/keys"
_DISABLE: Final = KEYS + "/{key_id:str}/disable"


@get(KEYS, media_type=MediaType.HTML)
async def keys_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List the keys that match the search, disabled ones included."""
    rows = await operator.hub.find_keys(search)
    return operator.page("keys.html", listing=listed(KEYS, rows, search))


@get(_DISABLE, media_type=MediaType.HTML)
async def ask_to_disable(
    key_id: FromPath[str], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Ask before somebody's programs are refused."""
    return operator.page("disable_key.html", row=or_404(await operator.hub.key(key_id)))


@post(_DISABLE, media_type=MediaType.HTML)
async def disable(
    key_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Disable the key for good."""
    row = or_404(await operator.hub.key(key_id))
    refused = await operator.require_reauthentication(fields, "disable_key.html", row=row)
    if refused is not None:
        return refused
    or_404(await operator.hub.keys.disable_any(key_id, operator.by))
    return redirect_with_flash(KEYS, "disabled")


KEY_PAGES = [keys_page, ask_to_disable, disable]
