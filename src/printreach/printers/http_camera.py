"""A camera with URLs: an MJPEG stream, a snapshot, or both. Most platforms and people have such.

What a platform lists may mean several addresses, which are tried in turn.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Sequence
from contextlib import aclosing
from urllib.parse import SplitResult, quote, unquote, urlsplit

from msgspec import structs

from printreach.contract.sizes import MAX_PICTURE_BYTES
from printreach.contract.status import WebcamEntry
from printreach.http1.fetch import Fetcher, FetchFailed
from printreach.languages import N_, in_english
from printreach.wire.heads import Headers, get

from .camera_addresses import CameraHosts, shown_url
from .connecting import connect_to
from .mjpeg import JPEG_MAGIC, BadStream, MjpegParser, NoStream, boundary_of
from .port import Camera, PrinterRefused, no_picture

POLL_S = 1.0
_UNQUOTED = "/%:@!$&'()*+,;=~-._"


class HttpCamera:
    """A camera at a snapshot URL, a stream URL, or both.

    entry: as it is listed; its URLs are filled in here, if they are harmless. headers: sent with
    each request (a printer's own key, for example); never shown. hosts: where the camera may be;
    None for one that the agent's owner set, which may be anywhere.
    """

    def __init__(
        self,
        entry: WebcamEntry,
        *,
        snapshot_url: str | None,
        stream_url: str | None,
        hosts: CameraHosts | None,
        headers: Headers | None = None,
    ) -> None:
        self.entry = structs.replace(
            entry, snapshot_url=shown_url(snapshot_url), stream_url=shown_url(stream_url)
        )
        self._snapshot_url = snapshot_url
        self._stream_url = stream_url
        self._hosts = hosts
        self._headers = headers or []
        self.source: Hashable = (
            self.entry,
            self._snapshot_url,
            self._stream_url,
            tuple(self._headers),
        )

    async def snapshot(self) -> bytes | None:
        if self._snapshot_url is None:
            return None
        fetcher, target, headers = await self._prepare(self._snapshot_url)
        try:
            answer = await fetcher.fetch(b"GET", target, headers, at_most=MAX_PICTURE_BYTES)
        except FetchFailed as exc:
            raise no_picture(exc.text) from exc
        finally:
            await fetcher.close()
        if answer.status != 200 or not answer.body.startswith(JPEG_MAGIC):
            raise no_picture(
                in_english("it answered %(status)s and no JPEG picture", status=answer.status)
            )
        return answer.body

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield pictures; without a usable stream the snapshot is fetched once a second."""
        if self._stream_url is not None:
            try:
                async with aclosing(self._streamed(self._stream_url)) as frames:
                    async for frame in frames:
                        yield frame
                return
            except NoStream as exc:
                if self._snapshot_url is None:
                    raise no_picture(str(exc)) from exc
        while True:
            picture = await self.snapshot()
            if picture is None:
                raise no_picture(N_("it has neither a stream nor a snapshot"))
            yield picture
            await asyncio.sleep(POLL_S)

    async def _streamed(self, url: str) -> AsyncGenerator[bytes, None]:
        """Raises NoStream, PrinterRefused."""
        fetcher, target, headers = await self._prepare(url)
        try:
            async with fetcher.open(b"GET", target, headers) as answer:
                if answer.status != 200:
                    raise no_picture(in_english("it answered %(status)s", status=answer.status))
                parser = MjpegParser(boundary_of(get(answer.headers, b"content-type") or b""))
                async for chunk in answer.chunks():
                    for frame in parser.feed(chunk):
                        yield frame
        except NoStream:
            raise
        except (FetchFailed, BadStream) as exc:
            raise no_picture(str(exc)) from exc
        finally:
            await fetcher.close()

    async def _prepare(self, url: str) -> tuple[Fetcher, bytes, Headers]:
        try:
            parts = urlsplit(url)
            tls = parts.scheme == "https"
            name, port = parts.hostname or "", parts.port or (443 if tls else 80)
        except ValueError as exc:
            raise no_picture(N_("its address is none")) from exc
        address = name if self._hosts is None else await self._hosts.address_of(name)
        connect = connect_to(address, port, tls=tls, server_name=name)
        host = parts.netloc.rpartition("@")[2].encode("ascii", "replace")
        target = quote(parts.path or "/", safe=_UNQUOTED)
        if parts.query:
            target += "?" + quote(parts.query, safe=_UNQUOTED + "?")
        return Fetcher(connect, host), target.encode(), [*self._headers, *_user_info(parts)]


def _user_info(parts: SplitResult) -> Headers:
    if parts.username is None:
        return []
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return [(b"Authorization", b"Basic " + base64.b64encode(pair.encode()))]


class FallbackCamera:
    """Tries several addresses, and remembers the one that gave a picture.

    cameras: the same camera at each possible address, at least one, the likeliest first. The entry
    stays that of the first one, since upstreams are shared by it.
    """

    def __init__(self, cameras: Sequence[Camera]) -> None:
        self._cameras = list(cameras)
        self.entry = self._cameras[0].entry
        self.source: Hashable = tuple(camera.source for camera in cameras)

    async def snapshot(self) -> bytes | None:
        refusals = []
        for camera in self._cameras:
            try:
                picture = await camera.snapshot()
            except PrinterRefused as refused:
                refusals.append(refused)
            else:
                self._prefer(camera)
                return picture
        raise refusals[0]

    async def frames(self) -> AsyncIterator[bytes]:
        refusals = []
        for camera in self._cameras:
            has_begun = False
            try:
                async for frame in camera.frames():
                    if not has_begun:
                        self._prefer(camera)
                    has_begun = True
                    yield frame
            except PrinterRefused as refused:
                if has_begun:
                    raise
                refusals.append(refused)
            else:
                return
        raise refusals[0]

    def _prefer(self, camera: Camera) -> None:
        self._cameras = [camera, *(other for other in self._cameras if other is not camera)]


def listed_camera(
    entry: WebcamEntry,
    *,
    stream: str | None,
    snapshot: str | None,
    addresses: Callable[[str], Sequence[str]],
    hosts: CameraHosts,
) -> list[Camera]:
    """Return one camera that tries every address which its URLs may mean; none without any.

    addresses: all that a URL may mean, an absolute one fewer than a relative one.
    """
    streams, snapshots = (addresses(url) if url else [] for url in (stream, snapshot))
    cameras = [
        HttpCamera(
            entry,
            snapshot_url=snapshots[min(n, len(snapshots) - 1)] if snapshots else None,
            stream_url=streams[min(n, len(streams) - 1)] if streams else None,
            hosts=hosts,
        )
        for n in range(max(len(streams), len(snapshots)))
    ]
    return [FallbackCamera(cameras)] if cameras else []
