"""All use cases of the dashboard, for the pages that show it."""

from collections.abc import Callable
from dataclasses import dataclass

from printreach.hub.connections import Connections, Shared
from printreach.hub.file_lists import FileLists
from printreach.hub.live import LiveStatus
from printreach.hub.live_links import LiveLinks
from printreach.hub.once import ShownOnce
from printreach.hub.own_connections import OwnConnections
from printreach.hub.own_printers import OwnPrinters
from printreach.hub.pictures import SharedPictures
from printreach.hub.print_history import PrintHistory
from printreach.hub.printers import Printers
from printreach.hub.snapshots import Snapshots
from printreach.hub.watch.choices import WatchChoices
from printreach.hub.watch.prints import WatchedPrints
from printreach.ports import Clock
from printreach.ports.printer_http import PrinterHttp
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.addresses import Addresses
from printreach.rules.detector import DetectorOff
from printreach.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Dashboard:
    """links: creates the links to a printer's own interface. pictures: shared by all viewers."""

    printers: OwnPrinters
    connections: OwnConnections
    links: Connections
    live: LiveStatus
    http: PrinterHttp
    file_lists: FileLists
    shown_once: ShownOnce[Shared]
    live_links: LiveLinks
    pictures: SharedPictures
    snapshots: Snapshots
    history: PrintHistory
    watch: WatchChoices
    watched: WatchedPrints
    addresses: Addresses
    clock: Clock

    async def close(self) -> None:
        """Stop everything that polls printers."""
        await self.live.close()
        await self.file_lists.close()
        await self.live_links.close()
        await self.pictures.close()


def dashboard(
    store: Store,
    clock: Clock,
    snapshots: Snapshots,
    printers: Printers,
    connections: Connections,
    *,
    supporters: SupporterPolicy,
    has_mail_server: bool,
    why_detector_is_off: Callable[[], DetectorOff | None],
) -> Dashboard:
    """Build the use cases; close() ends what they started."""
    http = snapshots.http
    live = LiveStatus(http, clock)
    own_printers = OwnPrinters(store=store, clock=clock, live=live, printers=printers)
    return Dashboard(
        printers=own_printers,
        connections=OwnConnections(store=store, clock=clock, connections=connections),
        links=connections,
        live=live,
        http=http,
        file_lists=FileLists(http),
        shown_once=ShownOnce(clock),
        live_links=LiveLinks(
            store=store,
            clock=clock,
            token_bytes=connections.token_bytes,
            live=live,
            printers=own_printers,
            supporters=supporters,
        ),
        pictures=SharedPictures(http, clock),
        snapshots=snapshots,
        history=PrintHistory(store=store, clock=clock),
        watch=WatchChoices(store=store, clock=clock, kept=snapshots.kept),
        watched=WatchedPrints(
            store=store,
            clock=clock,
            kept=snapshots.kept,
            has_mail_server=has_mail_server,
            why_off=why_detector_is_off,
        ),
        addresses=connections.addresses,
        clock=clock,
    )
