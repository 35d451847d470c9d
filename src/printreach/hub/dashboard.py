"""All use cases of the dashboard, for whoever serves its pages."""

from dataclasses import dataclass

from printreach.hub.connections import Connections
from printreach.hub.live import LiveStatus
from printreach.hub.once import ShownOnce
from printreach.hub.own_connections import OwnConnections
from printreach.hub.own_printers import OwnPrinters
from printreach.hub.printers import Printers
from printreach.ports import Clock, Store
from printreach.ports.printer_http import PrinterHttp


@dataclass(frozen=True, kw_only=True, slots=True)
class Dashboard:
    """links: makes the links that open a printer's own interface."""

    printers: OwnPrinters
    connections: OwnConnections
    links: Connections
    live: LiveStatus
    http: PrinterHttp
    shown_once: ShownOnce
    clock: Clock


def dashboard(
    store: Store, clock: Clock, http: PrinterHttp, printers: Printers, connections: Connections
) -> Dashboard:
    """Put them together; live.close() ends what was begun with them."""
    live = LiveStatus(http, clock)
    return Dashboard(
        printers=OwnPrinters(store=store, clock=clock, live=live, printers=printers),
        connections=OwnConnections(store=store, clock=clock, connections=connections),
        links=connections,
        live=live,
        http=http,
        shown_once=ShownOnce(clock),
        clock=clock,
    )
