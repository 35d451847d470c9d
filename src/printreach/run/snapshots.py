"""Composition of the picture store, for the roles that take or show pictures."""

from typing import Final

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.hub.core import Core
from printreach.hub.prints.snapshots import Snapshots
from printreach.ports.printer_http import PrinterHttp
from printreach.ports.snapshots import SnapshotStore
from printreach.run.installing import how_to_install
from printreach.run.settings import Settings, SettingsError

FOLDER: Final = "snapshots"


def snapshots_of(settings: Settings, core: Core, printers: PrinterHttp) -> Snapshots:
    """Build the use cases about stored pictures. Raises SettingsError."""
    return Snapshots(core=core, kept=_place(settings), http=printers)


def _place(settings: Settings) -> SnapshotStore:
    if settings.snapshots is None:
        return DiskSnapshots(settings.data_dir / FOLDER)
    try:
        # The library is an extra that only installations with a bucket need.
        from printreach.backends.snapshots_s3 import S3Snapshots
    except ImportError as error:
        raise SettingsError(
            f"PRINTREACH_SNAPSHOTS_URL needs more than is installed ({error.name}): "
            f"{how_to_install('s3')} brings it."
        ) from None
    return S3Snapshots(settings.snapshots)
