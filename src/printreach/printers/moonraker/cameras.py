"""Moonraker's cameras: from its own list, else from its pages' settings, else the usual place."""

import asyncio
import logging
from collections.abc import Callable

from printreach.contract.status import WebcamEntry
from printreach.printers.camera_urls import candidates
from printreach.printers.fallback_camera import FallbackCamera
from printreach.printers.http_camera import HttpCamera
from printreach.printers.loose import EMPTY, Json
from printreach.printers.port import Camera, PrinterRefused
from printreach.printers.setup import PrinterSetup

from .api import MoonrakerApi
from .webcams import Webcam, listed_webcams, stored_by_fluidd, stored_webcams, usual_webcam

log = logging.getLogger(__name__)

OWN_PORTS = frozenset({7125, 7130})
"""Moonraker's own ports, which serve no camera: the page's server does, at port 80."""
WEB_PORT = 80
PROBE_S = 2.0
PROBE_AGAIN_S = 300.0


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
        """Return one camera, or none for a webcam without any address that gives pictures."""
        streams = self._places(webcam.stream)
        snapshots = self._places(webcam.snapshot)
        entry = WebcamEntry(
            name=webcam.name,
            flip_h=webcam.flip_h,
            flip_v=webcam.flip_v,
            rotation=webcam.rotation,
            enabled=webcam.is_enabled,
        )
        places = max(len(streams), len(snapshots))
        choices = [
            HttpCamera(
                entry,
                snapshot_url=_at(snapshots, place),
                stream_url=_at(streams, place),
                hosts=self._hosts,
            )
            for place in range(places)
        ]
        return [FallbackCamera(choices)] if choices else []

    def _places(self, url: str) -> list[str]:
        return candidates(url, self._host, self._port, tls=self._tls) if url else []

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


def _at(urls: list[str], place: int) -> str | None:
    """Return the address at a place: an absolute one has one place, a relative one two."""
    return urls[min(place, len(urls) - 1)] if urls else None
