"""Lists of anybody's printers, connections, API keys and apps, and operators' acts on them."""

from collections.abc import Mapping
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from printreach.hub.apps import InvalidDraft
from printreach.hub.denied import Denied
from printreach.rules.printers import is_online
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import AppRow, PrinterRow, Search
from printreach.web.apps import TypedApp, draft_of, errors_at_fields, typed_by, typed_of
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.operators.context import ConfirmedAct, OperatorContext, listed, or_404

PRINTERS: Final = "/operator/printers"
CONNECTIONS: Final = "/operator/connections"
KEYS: Final = "/operator/keys"


@get(PRINTERS, media_type=MediaType.HTML)
async def printers_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List the printers that match the search."""
    rows, at = await operator.hub.find_printers(search), operator.hub.core.clock.now()

    def online(row: PrinterRow) -> bool:
        return is_online(row.printer, row.node_alive_at, at)

    return operator.page("printers.html", listing=listed(PRINTERS, rows, search), online=online)


@get(CONNECTIONS, media_type=MediaType.HTML)
async def connections_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List the current connections that match the search."""
    rows = await operator.hub.find_connections(search)
    return operator.page("connections.html", listing=listed(CONNECTIONS, rows, search))


@get(KEYS, media_type=MediaType.HTML)
async def keys_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List the keys that match the search, disabled ones included."""
    rows = await operator.hub.find_keys(search)
    return operator.page("keys.html", listing=listed(KEYS, rows, search))


_REMOVE_PRINTER = ConfirmedAct(
    path=PRINTERS + "/{record_id:str}/remove",
    template="remove_printer.html",
    find=lambda operating, printer_id: operating.printer(printer_id),
    act=lambda operating, row, by: operating.printers.remove(row.printer.printer_id, by),
    back=PRINTERS,
    flash="removed",
)
_END_CONNECTION = ConfirmedAct(
    path=CONNECTIONS + "/{record_id:str}/end",
    template="end_connection.html",
    find=lambda operating, connection_id: operating.connection(connection_id),
    act=lambda operating, row, by: operating.connections.revoke(row.connection.connection_id, by),
    back=CONNECTIONS,
    flash="ended",
)
_DISABLE_KEY = ConfirmedAct(
    path=KEYS + "/{record_id:str}/disable",
    template="disable_key.html",
    find=lambda operating, key_id: operating.key(key_id),
    act=lambda operating, row, by: operating.keys.disable_any(row.key.key_id, by),
    back=KEYS,
    flash="disabled",
)
PRINTER_PAGES = [
    *(printers_page, *_REMOVE_PRINTER.routes()),
    *(connections_page, *_END_CONNECTION.routes()),
    *(keys_page, *_DISABLE_KEY.routes()),
]


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
