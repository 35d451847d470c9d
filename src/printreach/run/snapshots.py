"""Where pictures are kept, composed for whichever role takes or shows them."""

import secrets
from typing import Final

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.hub.snapshots import Snapshots
from printreach.ports import Clock, Store
from printreach.ports.printer_http import PrinterHttp
from printreach.rules.credentials import TokenBytes
from printreach.run.settings import Settings

FOLDER: Final = "snapshots"


def snapshots_of(
    settings: Settings,
    store: Store,
    clock: Clock,
    printers: PrinterHttp,
    token_bytes: TokenBytes = secrets.token_bytes,
) -> Snapshots:
    """The use cases about kept pictures, with their place."""
    return Snapshots(
        store=store,
        clock=clock,
        token_bytes=token_bytes,
        kept=DiskSnapshots(settings.data_dir / FOLDER),
        http=printers,
    )
