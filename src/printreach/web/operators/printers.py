"""Lists of anybody's printers, connections and API keys, which operators may remove or end."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from printreach.rules.printers import is_online
from printreach.store.listings import PrinterRow, Search
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.operators.context import OperatorContext, listed, or_404

PRINTERS: Final = "/operator/printers"
CONNECTIONS: Final = "/operator/connections"
KEYS: Final = "/operator/keys"
_DISABLE: Final = KEYS + "/{key_id:str}/disable"


@get(PRINTERS, media_type=MediaType.HTML)
async def printers_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List the printers that match the search."""
    rows, at = await operator.hub.find_printers(search), operator.hub.core.clock.now()

    def online(row: PrinterRow) -> bool:
        return is_online(row.printer, row.node_alive_at, at)

    return operator.page("printers.html", listing=listed(PRINTERS, rows, search), online=online)


@get(PRINTERS + "/{printer_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(
    printer_id: FromPath[str], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Ask before somebody loses a printer."""
    return operator.page("remove_printer.html", row=or_404(await operator.hub.printer(printer_id)))


@post(PRINTERS + "/{printer_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    printer_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Remove the printer from its account; its connections end."""
    row = or_404(await operator.hub.printer(printer_id))
    refused = await operator.require_reauthentication(fields, "remove_printer.html", row=row)
    if refused is not None:
        return refused
    or_404(await operator.hub.printers.remove(printer_id, operator.by))
    return redirect_with_flash(PRINTERS, "removed")


@get(CONNECTIONS, media_type=MediaType.HTML)
async def connections_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List the current connections that match the search."""
    rows = await operator.hub.find_connections(search)
    return operator.page("connections.html", listing=listed(CONNECTIONS, rows, search))


@get(CONNECTIONS + "/{connection_id:str}/end", media_type=MediaType.HTML)
async def ask_to_end(
    connection_id: FromPath[str], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Ask before somebody loses access."""
    return operator.page(
        "end_connection.html", row=or_404(await operator.hub.connection(connection_id))
    )


@post(CONNECTIONS + "/{connection_id:str}/end", media_type=MediaType.HTML)
async def end(
    connection_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """End the connection and its open streams."""
    row = or_404(await operator.hub.connection(connection_id))
    refused = await operator.require_reauthentication(fields, "end_connection.html", row=row)
    if refused is not None:
        return refused
    or_404(await operator.hub.connections.revoke(connection_id, operator.by))
    return redirect_with_flash(CONNECTIONS, "ended")


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


PRINTER_PAGES = [
    *(printers_page, ask_to_remove, remove),
    *(connections_page, ask_to_end, end),
    *(keys_page, ask_to_disable, disable),
]
