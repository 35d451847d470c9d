"""Pages that create, show once and disable keys of the failure-detection API."""

from typing import Any

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import (
    REAUTH_FIELD,
    Fields,
    page,
    page_with_error,
    reauthenticate,
    reauthentication_context,
)
from printreach.web.problems import or_404
from printreach.web.safe_methods import USED_UP
from printreach.web.signed_in import SignedIn

_NEW = "developer/new_key.html"


@get("/developer/new-key", media_type=MediaType.HTML)
async def new_key_page(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Ask for the key's purpose."""
    return page(_NEW, typed="", **reauthentication_context(signed_in))


@post("/developer/new-key", media_type=MediaType.HTML)
async def make(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Create the key, and redirect to the page that shows it."""
    account_id, services = signed_in.account_id, signed_in.services
    shown = {"typed": fields["name"][:100], **reauthentication_context(signed_in)}
    refused = await reauthenticate(signed_in, fields)
    if refused is not None:
        return page_with_error(_NEW, refused, REAUTH_FIELD, **shown)
    made = await services.detection_keys.make(account_id, fields["name"])
    if isinstance(made, Denied):
        return page_with_error(_NEW, made, "name", **shown)
    services.shown_keys.put(account_id, made.key.key_id, made)
    return Redirect(f"/developer/keys/{made.key.key_id}", status_code=303)


@get("/developer/keys/{key_id:str}", media_type=MediaType.HTML, opt=dict(USED_UP))
async def key_page(key_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Show the key once."""
    account_id = signed_in.account_id
    key = or_404(await signed_in.services.detection_keys.one(account_id, key_id))
    context = {
        "key": key,
        "made": signed_in.services.shown_keys.take(account_id, key_id),
    }
    return Template("developer/key.html", context=context, headers={"Cache-Control": "no-store"})


@post("/developer/keys/done", media_type=MediaType.HTML)
async def done(
    signed_in: NamedDependency[SignedIn],  # noqa: ARG001 - asking for it needs somebody
) -> Redirect:
    """Go on, now that the key is saved."""
    return Redirect("/developer#keys", status_code=303)


@get("/developer/keys/{key_id:str}/disable", media_type=MediaType.HTML)
async def ask_to_disable(key_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Ask before programs are locked out."""
    key = or_404(await signed_in.services.detection_keys.one(signed_in.account_id, key_id))
    return Template("developer/disable_key.html", context={"key": key})


@post("/developer/keys/{key_id:str}/disable", media_type=MediaType.HTML)
async def disable(key_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Redirect:
    """Disable the key."""
    or_404(await signed_in.services.detection_keys.disable(signed_in.account_id, key_id))
    return redirect_with_flash("/developer", "disabled")


KEY_PAGES = [new_key_page, make, key_page, done, ask_to_disable, disable]
