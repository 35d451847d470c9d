"""Finding the printer's software on this machine, by asking what listens on its usual ports."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from printreach.agent.addresses import WebAddress
from printreach.contract.platforms import LOOPBACK, PLATFORM_FACTS, PlatformFacts
from printreach.http1.fetch import FetchedAnswer, Fetcher, FetchFailed
from printreach.printers import loose
from printreach.printers.connecting import connect_to

OWN_PORTS: Final = (5000, 5001, 7125, 7126)
"""The ports of OctoPrint and Moonraker themselves."""
PORTS: Final = (*OWN_PORTS, 80, 8080)
"""With those of PrusaLink, and of web servers in front of the others."""
SEARCHABLE: Final = ("octoprint", "moonraker", "prusalink")

_PRUSALINK_REALMS: Final = (b'Digest realm="Administrator"', b'Digest realm="Printer API"')
"""Of PrusaLink 0.8.1 beside a printer, and of a printer's own firmware."""
_FIRST_BYTE_S: Final = 5.0
_SEARCH_TIMEOUT_S: Final = 20.0
_MAX_ANSWER_BYTES: Final = 256 * 1024


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
    return await fetcher.fetch(b"GET", target, at_most=_MAX_ANSWER_BYTES)


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
