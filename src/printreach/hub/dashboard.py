"""All use cases of the dashboard, for the pages that show it."""

from collections.abc import Callable
from dataclasses import dataclass

from printreach.hub.connections import Connections, Shared
from printreach.hub.connections.live_links import LiveLinks
from printreach.hub.connections.own import OwnConnections
from printreach.hub.core import Core
from printreach.hub.once import ShownOnce
from printreach.hub.printers import Printers
from printreach.hub.printers.file_lists import FileLists
from printreach.hub.printers.live import LiveStatus
from printreach.hub.printers.own import OwnPrinters
from printreach.hub.printers.pictures import SharedPictures
from printreach.hub.prints.history import PrintHistory
from printreach.hub.prints.snapshots import Snapshots
from printreach.hub.watch.choices import WatchChoices
from printreach.hub.watch.prints import WatchedPrints
from printreach.ports import Clock
from printreach.ports.printer_http import PrinterHttp
from printreach.rules.addresses import Addresses
from printreach.rules.detection.detector import DetectorOff


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
    core: Core,
    snapshots: Snapshots,
    printers: Printers,
    connections: Connections,
    why_detector_is_off: Callable[[], DetectorOff | None],
) -> Dashboard:
    """Build the use cases; close() ends what they started."""
    http, kept = snapshots.http, snapshots.kept
    live = LiveStatus(http, core.clock)
    own_printers = OwnPrinters(core=core, live=live, printers=printers)
    return Dashboard(
        printers=own_printers,
        connections=OwnConnections(core=core, connections=connections),
        links=connections,
        live=live,
        http=http,
        file_lists=FileLists(http),
        shown_once=ShownOnce(core.clock),
        live_links=LiveLinks(core=core, live=live, printers=own_printers),
        pictures=SharedPictures(http, core.clock),
        snapshots=snapshots,
        history=PrintHistory(core=core),
        watch=WatchChoices(core=core, kept=kept),
        watched=WatchedPrints(core=core, kept=kept, why_off=why_detector_is_off),
        addresses=core.addresses,
        clock=core.clock,
    )
