"""Moonraker's cameras: from its own list, else from its pages' settings, else the usual place.

Source: answers of Moonraker 0.11.0 to server.webcams.list; its database's namespace `webcams`, in
which Mainsail has kept them since before that list; Fluidd's own `cameras`.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from printreach.contract.status import WebcamEntry
from printreach.printers import loose
from printreach.printers.camera_addresses import candidates
from printreach.printers.http_camera import listed_camera
from printreach.printers.loose import EMPTY, Json
from printreach.printers.port import Camera, PrinterRefused
from printreach.printers.setup import PrinterSetup

from .api import MoonrakerApi

log = logging.getLogger(__name__)

OWN_PORTS = frozenset({7125, 7130})
"""Moonraker's own ports, which serve no camera: the page's server does, at port 80."""
WEB_PORT = 80
PROBE_S = 2.0
PROBE_AGAIN_S = 300.0
MAX_WEBCAMS = 16
_ROTATIONS = frozenset({0, 90, 180, 270})
_NO_MJPEG = ("hls", "janus", "mediamtx", "go2rtc", "jmuxer", "iframe", "uv4l-webrtc", "html")
"""Services whose stream is a page or another kind of video; their snapshots are usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webcam:
    """A webcam entry. stream, snapshot: addresses as written, relative ones too; "" for none."""

    name: str
    stream: str = ""
    snapshot: str = ""
    flip_h: bool = False
    flip_v: bool = False
    rotation: int = 0
    is_enabled: bool = True


class CameraFinder:
    """Knows the cameras once look() was called; a change makes it be called again."""

    def __init__(self, setup: PrinterSetup, api: MoonrakerApi) -> None:
        self._api = api
        has_page = setup.port not in OWN_PORTS
        self._host = setup.host
        self._port = setup.port if has_page else WEB_PORT
        self._tls = setup.tls and has_page
        self._hosts = setup.camera_hosts
        self._now: Callable[[], float] = setup.steady_time
        self._found: list[Camera] = []
        self._usual: list[Camera] = []
        self._probed_at: float | None = None
        self._has_looked = asyncio.Event()

    async def look(self) -> None:
        """Ask Moonraker. Raises PrinterRefused only when the connection is gone."""
        listed = await self._ask("server.webcams.list")
        webcams = listed_webcams(listed)
        if webcams is None:
            webcams = stored_webcams(await self._stored("webcams"))
        if webcams is None:
            webcams = stored_by_fluidd(await self._stored("fluidd", "cameras"))
        self._usual = [] if webcams is not None else self._made(usual_webcam())
        self._found = [camera for webcam in webcams or () for camera in self._made(webcam)]
        self._probed_at = None
        self._has_looked.set()

    async def cameras(self) -> list[Camera]:
        """Return the listed cameras; else the usual one, once it has given a picture."""
        await self._has_looked.wait()
        if self._found or not self._usual:
            return self._found
        now = self._now()
        if self._probed_at is None or now - self._probed_at > PROBE_AGAIN_S:
            self._probed_at = now
            self._found = self._usual if await _gives_a_picture(self._usual[0]) else []
        return self._found

    def _made(self, webcam: Webcam) -> list[Camera]:
        entry = WebcamEntry(
            name=webcam.name,
            flip_h=webcam.flip_h,
            flip_v=webcam.flip_v,
            rotation=webcam.rotation,
            enabled=webcam.is_enabled,
        )
        return listed_camera(
            entry,
            stream=webcam.stream,
            snapshot=webcam.snapshot,
            addresses=partial(candidates, host=self._host, port=self._port, tls=self._tls),
            hosts=self._hosts,
        )

    async def _stored(self, namespace: str, key: str | None = None) -> object:
        params = {"namespace": namespace} | ({"key": key} if key else {})
        return await self._ask("server.database.get_item", params)

    async def _ask(self, method: str, params: Json = EMPTY) -> object:
        try:
            return await self._api.call(method, params)
        except PrinterRefused as refused:
            if self._api.rpc is None:
                raise
            log.debug("%s names no cameras: %s", method, refused)
            return None


async def _gives_a_picture(camera: Camera) -> bool:
    try:
        async with asyncio.timeout(PROBE_S):
            return await camera.snapshot() is not None
    except (TimeoutError, PrinterRefused):
        return False


def listed_webcams(answer: object) -> list[Webcam] | None:
    """Read the answer of server.webcams.list; None where it has no entries."""
    entries = [loose.obj(entry) for entry in loose.items(answer, "webcams")]
    return _webcams(entries, "stream_url", "snapshot_url", "flip_horizontal", "flip_vertical")


def stored_webcams(answer: object) -> list[Webcam] | None:
    """Read the database's namespace `webcams`: entries by their ids."""
    entries = [loose.obj(entry) for entry in loose.obj(answer, "value").values()]
    return _webcams(entries, "urlStream", "urlSnapshot", "flipX", "flipY")


def stored_by_fluidd(answer: object) -> list[Webcam] | None:
    """Read Fluidd's settings, which have one address a camera."""
    entries = [loose.obj(entry) for entry in loose.items(loose.obj(answer, "value"), "cameras")]
    return _webcams(entries, "url", "", "flipX", "flipY")


def usual_webcam() -> Webcam:
    """Return the webcam at the address that usual installations have."""
    return Webcam(
        name="Webcam", stream="/webcam/?action=stream", snapshot="/webcam/?action=snapshot"
    )


def _webcams(
    entries: Iterable[Json], stream: str, snapshot: str, flip_h: str, flip_v: str
) -> list[Webcam] | None:
    entries = [entry for entry in entries if entry][:MAX_WEBCAMS]
    if not entries:
        return None
    return [
        Webcam(
            name=loose.text(entry, "name") or "Webcam",
            stream="" if _has_no_mjpeg(entry) else loose.text(entry, stream) or "",
            snapshot=loose.text(entry, snapshot) or "",
            flip_h=loose.flag(entry, flip_h) or False,
            flip_v=loose.flag(entry, flip_v) or False,
            rotation=_rotation(entry),
            is_enabled=loose.flag(entry, "enabled") is not False,
        )
        for entry in entries
    ]


def _has_no_mjpeg(entry: Json) -> bool:
    service = (loose.text(entry, "service") or loose.text(entry, "type") or "").lower()
    return any(word in service for word in _NO_MJPEG)


def _rotation(entry: Json) -> int:
    degrees = loose.whole(entry, "rotation")
    if degrees is None:
        degrees = loose.whole(entry, "rotate")
    return degrees if degrees in _ROTATIONS else 0
