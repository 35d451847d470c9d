"""Pages that register, change and remove anybody's apps."""

from collections.abc import Mapping
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from printreach.hub.apps import InvalidDraft
from printreach.hub.denied import Denied
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import AppRow, Search
from printreach.web.apps.form import TypedApp, draft_of, errors_at_fields, typed_by, typed_of
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.operators.context import ConfirmedAct, OperatorContext, listed, or_404

APPS: Final = "/operator/apps"


@get(APPS, media_type=MediaType.HTML)
async def apps_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List the apps that match the search."""
    rows = await operator.hub.apps.find(search)
    return operator.page("apps.html", listing=listed(APPS, rows, search))


@get("/operator/register", media_type=MediaType.HTML)
async def new_app_page(operator: NamedDependency[OperatorContext]) -> Response[Any]:
    """Show the empty form."""
    return _form(operator, TypedApp(), None)


@post("/operator/register", media_type=MediaType.HTML)
async def register(
    fields: NamedDependency[Fields], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Register the app."""
    typed = typed_by(fields)
    refused = await operator.reauthenticate(fields)
    if refused is not None:
        return _form(operator, typed, None, refused)
    made = await operator.hub.apps.register(draft_of(typed), operator.by)
    if isinstance(made, InvalidDraft):
        return _form(operator, typed, None, errors=made.errors)
    return redirect_with_flash(APPS, "registered")


@get(APPS + "/{app_id:str}", media_type=MediaType.HTML)
async def app_page(
    app_id: FromPath[str], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Show the form with the app's values."""
    row = or_404(await operator.hub.apps.one(app_id))
    return _form(operator, typed_of(row.app), row)


@post(APPS + "/{app_id:str}", media_type=MediaType.HTML)
async def change(
    app_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Change the app."""
    row, typed = or_404(await operator.hub.apps.one(app_id)), typed_by(fields)
    refused = await operator.reauthenticate(fields)
    if refused is not None:
        return _form(operator, typed, row, refused)
    was_checked = fields["checked"] == "yes"
    changed = or_404(
        await operator.hub.apps.change(
            app_id, draft_of(typed), operator.by, was_checked=was_checked
        )
    )
    if isinstance(changed, InvalidDraft):
        return _form(operator, typed, row, errors=changed.errors)
    return redirect_with_flash(f"{APPS}/{app_id}", "changed")


def _form(
    operator: OperatorContext,
    typed: TypedApp,
    row: AppRow | None,
    fault: Denied | TooSoon | None = None,
    *,
    errors: Mapping[str, str] | None = None,
) -> Response[Any]:
    """Render the form. row: None for an app that is being registered."""
    shown = operator.page("app.html", fault, typed=typed, row=row)
    if errors:
        shown.context["errors"] = errors_at_fields(errors)
        shown.status_code = ERROR_STATUS
    return shown


_REMOVE = ConfirmedAct(
    path=APPS + "/{record_id:str}/remove",
    template="remove_app.html",
    find=lambda operating, app_id: operating.apps.one(app_id),
    act=lambda operating, row, by: operating.apps.remove(row.app.app_id, by),
    back=APPS,
    flash="removed",
)
APP_PAGES = [apps_page, new_app_page, register, app_page, change, *_REMOVE.routes()]
