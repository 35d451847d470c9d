"""A camera with URLs: an MJPEG stream, a snapshot, or both. What most platforms and people have."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from urllib.parse import SplitResult, quote, unquote, urlsplit

from msgspec import structs

from printreach.contract.commands import CommandStatus
from printreach.contract.status import WebcamEntry
from printreach.http1.client import Connect
from printreach.http1.fetch import Fetcher, FetchFailed
from printreach.wire.heads import Headers, get

from .mjpeg import BadStream, MjpegParser, boundary_of
from .port import PrinterRefused

JPEG_MAGIC = b"\xff\xd8"
SNAPSHOT_BYTES = 8 * 1024 * 1024


class HttpCamera:
    """entry: as it is listed; its URLs are filled in here, without user info.

    headers: sent with each request (a printer's own key, say); never shown.
    """

    def __init__(
        self,
        entry: WebcamEntry,
        *,
        snapshot_url: str | None,
        stream_url: str | None,
        headers: Headers | None = None,
    ) -> None:
        self.entry = structs.replace(
            entry, snapshot_url=shown_url(snapshot_url), stream_url=shown_url(stream_url)
        )
        self._snapshot_url = snapshot_url
        self._stream_url = stream_url
        self._headers = headers or []

    async def snapshot(self) -> bytes | None:
        if self._snapshot_url is None:
            return None
        fetcher, target, headers = self._prepare(self._snapshot_url)
        try:
            answer = await fetcher.fetch(b"GET", target, headers, at_most=SNAPSHOT_BYTES)
        except FetchFailed as exc:
            raise _no_camera(exc.text) from exc
        finally:
            await fetcher.close()
        if answer.status != 200 or not answer.body.startswith(JPEG_MAGIC):
            raise _no_camera(f"it answered {answer.status} and no JPEG picture")
        return answer.body

    async def frames(self) -> AsyncIterator[bytes]:
        if self._stream_url is None:
            async for frame in self._polled():
                yield frame
            return
        fetcher, target, headers = self._prepare(self._stream_url)
        try:
            async with fetcher.open(b"GET", target, headers) as answer:
                kind = get(answer.headers, b"content-type") or b""
                parser = MjpegParser(boundary_of(kind))
                async for chunk in answer.chunks():
                    for frame in parser.feed(chunk):
                        yield frame
        except (FetchFailed, BadStream) as exc:
            raise _no_camera(str(exc)) from exc
        finally:
            await fetcher.close()

    async def _polled(self) -> AsyncIterator[bytes]:
        """A camera that only gives snapshots, asked once a second."""
        while True:
            picture = await self.snapshot()
            if picture is None:
                raise _no_camera("it has neither a stream nor a snapshot")
            yield picture
            await asyncio.sleep(1.0)

    def _prepare(self, url: str) -> tuple[Fetcher, bytes, Headers]:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = parts.netloc.rpartition("@")[2].encode("latin-1", "replace")
        target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
        if parts.query:
            target += "?" + parts.query
        connect = _connect(parts.hostname or "", port, tls=parts.scheme == "https")
        return (
            Fetcher(connect, host),
            target.encode("latin-1", "replace"),
            [
                *self._headers,
                *_user_info(parts),
            ],
        )


def shown_url(url: str | None) -> str | None:
    """The URL without user info, for people."""
    if url is None:
        return None
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _user_info(parts: SplitResult) -> Headers:
    if parts.username is None:
        return []
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return [(b"Authorization", b"Basic " + base64.b64encode(pair.encode()))]


def _connect(host: str, port: int, *, tls: bool) -> Connect:
    loop = asyncio.get_running_loop()
    context: ssl.SSLContext | None = None
    if tls:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return lambda protocol: loop.create_connection(protocol, host, port, ssl=context)


def _no_camera(text: str) -> PrinterRefused:
    return PrinterRefused(CommandStatus.NOT_CONNECTED, f"The camera gives no picture: {text}.")
