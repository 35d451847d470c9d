"""Finds a printer's camera in its report."""

from urllib.parse import urlsplit

from printreach.contract.status import WebcamEntry
from printreach.printers import loose
from printreach.printers.port import Camera
from printreach.printers.rtsp_camera import RtspCamera
from printreach.printers.setup import PrinterSetup

from .api import USER
from .camera import PortCamera
from .ports import Ports
from .report import KnownState

USUAL_RTSPS_PORT = 322
_OFF = "disable"


def cameras_of(known: KnownState, setup: PrinterSetup, ports: Ports) -> list[Camera]:
    """RTSPS where the printer names an address for it, else the camera port; one or none.

    An address that is "disable" or empty is of a printer whose owner has turned its stream off: its
    camera is listed as disabled.
    """
    code = setup.access_code
    if code is None or not known.is_enough:
        return []
    ipcam = loose.obj(known.report, "ipcam")
    if "rtsp_url" not in ipcam:
        return [PortCamera(setup.host, ports.camera, USER, code)]
    reported = loose.text(ipcam, "rtsp_url")
    is_on = reported is not None and reported != _OFF
    entry = WebcamEntry(name="Camera", enabled=is_on)
    url = _at(reported if is_on and reported is not None else "", setup.host)
    return [RtspCamera(entry, url, user=USER, password=code)]


def _at(reported: str, host: str) -> str:
    """Return the address, at the host where the agent finds the printer; without user info."""
    shown = f"[{host}]" if ":" in host else host
    try:
        parts = urlsplit(reported)
        port, path = parts.port or USUAL_RTSPS_PORT, parts.path
    except ValueError:
        port, path = USUAL_RTSPS_PORT, ""
    return f"rtsps://{shown}:{port}{path or '/streaming/live/1'}"
