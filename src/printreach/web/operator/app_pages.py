"""Apps of everybody: registered, changed, removed."""

from collections.abc import Mapping
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from printreach.hub.denied import Denied
from printreach.hub.own_apps import Faulty
from printreach.ports.operating import AppRow, Search
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.forms import FAULT_STATUS, Fields
from printreach.web.developer.app_form import (
    TypedApp,
    draft_of,
    errors_at_fields,
    typed_by,
    typed_of,
)
from printreach.web.operator.desk import Desk, back, found
from printreach.web.operator.listing import listed

APPS: Final = "/operator/apps"


@get(APPS, media_type=MediaType.HTML)
async def apps_page(desk: NamedDependency[Desk], search: NamedDependency[Search]) -> Response[Any]:
    """List them, or those that were searched for."""
    rows = await desk.hub.apps.find(search)
    return desk.page("apps.html", listing=listed(APPS, rows, search))


@get("/operator/register", media_type=MediaType.HTML)
async def new_app_page(desk: NamedDependency[Desk]) -> Response[Any]:
    """Ask what the app is."""
    return _form(desk, TypedApp(), None)


@post("/operator/register", media_type=MediaType.HTML)
async def register(fields: NamedDependency[Fields], desk: NamedDependency[Desk]) -> Response[Any]:
    """Register it."""
    typed = typed_by(fields)
    refused = await desk.proved(fields)
    if refused is not None:
        return _form(desk, typed, None, refused)
    made = await desk.hub.apps.register(draft_of(typed), desk.by)
    if isinstance(made, Faulty):
        return _form(desk, typed, None, errors=made.errors)
    return back(APPS, "registered")


@get(APPS + "/{app_id:str}", media_type=MediaType.HTML)
async def app_page(app_id: FromPath[str], desk: NamedDependency[Desk]) -> Response[Any]:
    """The form, as the app is now."""
    row = found(await desk.hub.apps.one(app_id))
    return _form(desk, typed_of(row.app), row)


@post(APPS + "/{app_id:str}", media_type=MediaType.HTML)
async def change(
    app_id: FromPath[str], fields: NamedDependency[Fields], desk: NamedDependency[Desk]
) -> Response[Any]:
    """Put what was typed in its place."""
    row, typed = found(await desk.hub.apps.one(app_id)), typed_by(fields)
    refused = await desk.proved(fields)
    if refused is not None:
        return _form(desk, typed, row, refused)
    was_checked = fields["checked"] == "yes"
    changed = found(
        await desk.hub.apps.change(app_id, draft_of(typed), desk.by, was_checked=was_checked)
    )
    if isinstance(changed, Faulty):
        return _form(desk, typed, row, errors=changed.errors)
    return back(f"{APPS}/{app_id}", "changed")


@get(APPS + "/{app_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(app_id: FromPath[str], desk: NamedDependency[Desk]) -> Response[Any]:
    """Ask before everybody who uses the app loses what it reaches."""
    return desk.page("remove_app.html", row=found(await desk.hub.apps.one(app_id)))


@post(APPS + "/{app_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    app_id: FromPath[str], fields: NamedDependency[Fields], desk: NamedDependency[Desk]
) -> Response[Any]:
    """Remove it; its connections end."""
    row = found(await desk.hub.apps.one(app_id))
    refused = await desk.unproved(fields, "remove_app.html", row=row)
    if refused is not None:
        return refused
    found(await desk.hub.apps.remove(app_id, desk.by))
    return back(APPS, "removed")


def _form(
    desk: Desk,
    typed: TypedApp,
    row: AppRow | None,
    fault: Denied | TooSoon | None = None,
    *,
    errors: Mapping[str, str] | None = None,
) -> Response[Any]:
    """row: None for an app that is about to be registered."""
    shown = desk.page("app.html", fault, typed=typed, row=row)
    if errors:
        shown.context["errors"] = errors_at_fields(errors)
        shown.status_code = FAULT_STATUS
    return shown


APP_PAGES = [apps_page, new_app_page, register, app_page, change, ask_to_remove, remove]
