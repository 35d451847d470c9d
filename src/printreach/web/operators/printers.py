"""Lists of anybody's printers, connections and API keys, which operators may remove or end."""

from typing import Any, Final

from litestar import MediaType, Response, get
from litestar.di import NamedDependency

from printreach.rules.printers import is_online
from printreach.store.listings import PrinterRow, Search
from printreach.web.operators.context import ConfirmedAct, OperatorContext, listed

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
