"""Finding the printer's software on this machine, and getting a key from it.

What listens on the usual ports is asked; keys need the owner's consent.
"""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from printreach.agent.addresses import WebAddress
from printreach.contract.platforms import LOOPBACK, PLATFORM_FACTS, PlatformFacts
from printreach.http1.fetch import FetchedAnswer, Fetcher, FetchFailed
from printreach.printers import loose
from printreach.printers.connecting import connect_to

APP_NAME: Final = "Printreach"
POLL_S: Final = 1.0
"""OctoPrint drops a request that nobody asked about for 5 s."""
OWNER_TIMEOUT_S: Final = 15 * 60.0
"""How long the owner may take to find a browser and sign in."""

_REQUESTS: Final = "/plugin/appkeys/request"
_TOKEN: Final = re.compile(r"[\w-]+", re.ASCII)
_KEY: Final = re.compile(r"[!-~]{1,1024}")
_PATH: Final = re.compile(r"(/[\w.~%-]+)+/?", re.ASCII)
_MAX_ANSWER_BYTES: Final = 1024 * 1024

OWN_PORTS: Final = (5000, 5001, 7125, 7126)
"""The ports of OctoPrint and Moonraker themselves."""
PORTS: Final = (*OWN_PORTS, 80, 8080)
"""With those of PrusaLink, and of web servers in front of the others."""
SEARCHABLE: Final = ("octoprint", "moonraker", "prusalink")

_PRUSALINK_REALMS: Final = (b'Digest realm="Administrator"', b'Digest realm="Printer API"')
"""Of PrusaLink 0.8.1 beside a printer, and of a printer's own firmware."""
_FIRST_BYTE_S: Final = 5.0
_SEARCH_TIMEOUT_S: Final = 20.0
_MAX_FRONT_PAGE_BYTES: Final = 256 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundPrinter:
    """The software of a printer, and its address."""

    kind: PlatformFacts
    address: WebAddress


async def find_printers(
    ports: Sequence[int] = PORTS, *, timeout_s: float = _SEARCH_TIMEOUT_S
) -> list[FoundPrinter]:
    """Return what answers on this machine, in the order of the ports.

    Software that listens on a port of its own is often also behind a web server on port 80; it is
    returned once.
    """
    kinds = await asyncio.gather(*(_kind_within(port, timeout_s) for port in ports))
    found: list[FoundPrinter] = []
    for port, kind in zip(ports, kinds, strict=True):
        is_second_way = port in (80, 8080) and kind in [one.kind for one in found]
        if kind is not None and not is_second_way:
            address = WebAddress(scheme="http", host=LOOPBACK, port=port)
            found.append(FoundPrinter(kind=kind, address=address))
    return found


async def _kind_within(port: int, timeout_s: float) -> PlatformFacts | None:
    try:
        async with asyncio.timeout(timeout_s):
            return await kind_at(WebAddress(scheme="http", host=LOOPBACK, port=port))
    except TimeoutError:
        return None


async def kind_at(address: WebAddress) -> PlatformFacts | None:
    """Return the platform that answers there; None for anything else, and where nothing does."""
    connect = connect_to(address.host, address.port, tls=address.is_tls)
    fetcher = Fetcher(connect, address.authority.encode(), first_byte_s=_FIRST_BYTE_S)
    try:
        # Moonraker first: it can answer as OctoPrint does, for slicers.
        if _is_moonraker(await _get(fetcher, b"/server/info")):
            return PLATFORM_FACTS["moonraker"]
        if (await _get(fetcher, b"/plugin/appkeys/probe")).status == 204:
            return PLATFORM_FACTS["octoprint"]
        return _kind_by_version(await _get(fetcher, b"/api/version"))
    except FetchFailed:
        return None
    finally:
        await fetcher.close()


async def _get(fetcher: Fetcher, target: bytes) -> FetchedAnswer:
    return await fetcher.fetch(b"GET", target, at_most=_MAX_FRONT_PAGE_BYTES)


def _is_moonraker(answer: FetchedAnswer) -> bool:
    """Source: https://moonraker.readthedocs.io/en/latest/external_api/server/#query-server-info.

    One that doesn't trust the caller answers 401, with an error in its own form.
    """
    told = loose.parsed(answer.body)
    if answer.status == 401:
        return loose.whole(loose.obj(told, "error"), "code") == 401
    return answer.status == 200 and bool(loose.text(loose.obj(told, "result"), "moonraker_version"))


def _kind_by_version(answer: FetchedAnswer) -> PlatformFacts | None:
    """OctoPrint's version is told without a key only where that is allowed; PrusaLink asks for
    its password, and names its API.
    """
    words = loose.text(loose.parsed(answer.body), "text") or ""
    challenge = answer.header(b"www-authenticate") or b""
    if words.startswith("PrusaLink") or any(realm in challenge for realm in _PRUSALINK_REALMS):
        return PLATFORM_FACTS["prusalink"]
    if words.startswith("OctoPrint"):
        return PLATFORM_FACTS["octoprint"]
    return None


class NoKey(Exception):
    """There is no key; the message is a sentence."""


class NoAnswer(NoKey):
    """The printer's software can't be reached."""


class PrinterKeys:
    """Asks the API at one address."""

    def __init__(self, address: WebAddress) -> None:
        self._address = address
        connect = connect_to(address.host, address.port, tls=address.is_tls)
        self._fetcher = Fetcher(connect, address.authority.encode())

    async def close(self) -> None:
        await self._fetcher.close()

    async def moonraker_accepts(self, key: str | None) -> bool:
        """Return whether it trusts this machine, or takes the key. Raises NoKey."""
        return (await self._ask("GET", "/server/info", key=key)).status == 200

    async def octoprint_accepts(self, key: str | None) -> bool:
        """Return whether the key is one of OctoPrint. Raises NoKey."""
        if not key:
            return False
        answer = await self._ask("GET", "/api/currentuser", key=key)
        return answer.status == 200 and bool(loose.text(loose.parsed(answer.body), "name"))

    async def octoprint_key(self, on_asked: Callable[[str], None]) -> str:
        """Ask OctoPrint's plugin Application Keys for a key, and wait for the owner. Raises NoKey.

        on_asked: called when OctoPrint shows the request, with the path of a page that shows it.
        Source: https://docs.octoprint.org/en/master/bundledplugins/appkeys.html
        """
        body = json.dumps({"app": APP_NAME}).encode()
        asked = await self._ask("POST", _REQUESTS, body=body)
        if asked.status == 429:
            raise NoKey("OctoPrint was asked too often; it allows it again after some minutes.")
        told = loose.parsed(asked.body)
        token = loose.text(told, "app_token") or ""
        if asked.status != 201 or not _TOKEN.fullmatch(token):
            raise NoKey("OctoPrint's plugin Application Keys is switched off, or gives no keys.")
        on_asked(self._path_of(loose.text(told, "auth_dialog") or ""))
        try:
            async with asyncio.timeout(OWNER_TIMEOUT_S):
                while True:
                    answer = await self._ask("GET", f"{_REQUESTS}/{token}")
                    if answer.status != 202:
                        break
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise NoKey("Nobody pressed Allow in OctoPrint.") from None
        key = loose.text(loose.parsed(answer.body), "api_key")
        if answer.status != 200 or not key:
            raise NoKey("OctoPrint's owner did not allow it.")
        if not _KEY.fullmatch(key):
            raise NoKey("OctoPrint gave something else than a key.")
        return key

    def _path_of(self, page: str) -> str:
        """Return the path of a page of the host that was asked; empty for anything else."""
        try:
            parts = urlsplit(page)
            is_ours = parts.hostname in (None, self._address.host)
        except ValueError:
            return ""
        return parts.path if is_ours and _PATH.fullmatch(parts.path) else ""

    async def _ask(
        self, method: str, target: str, *, key: str | None = None, body: bytes = b""
    ) -> FetchedAnswer:
        headers = [(b"X-Api-Key", key.encode())] if key else []
        if body:
            headers.append((b"Content-Type", b"application/json"))
        try:
            return await self._fetcher.fetch(
                method.encode(), target.encode(), headers, body, at_most=_MAX_ANSWER_BYTES
            )
        except FetchFailed as failed:
            raise NoAnswer(f"{self._address} can't be reached: {failed.text}.") from failed
