"""The hosts from which the agent may fetch pictures.

Apps with access to OctoPrint or Moonraker can write any address into the list of webcams there. The
agent must not fetch it for them from other machines of the local network. So it fetches only from
the printer itself, its own machine, and hosts that its owner has allowed.
"""

import asyncio
import logging
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.languages import in_english

from .port import PrinterRefused, no_picture

RESOLVE_WITHIN_S: Final = 5.0
MAX_LOGGED: Final = 32
_PORT: Final = 9
"""Any port serves where only the route of a socket is needed."""

log = logging.getLogger(__name__)


class CameraHosts:
    """The allowed hosts. printer: its host, as the agent connects. allowed: names and networks."""

    def __init__(self, printer: str, allowed: Iterable[str] = ()) -> None:
        self._printer = printer
        self._names = {_name(printer), "localhost"}
        self._networks: list[IPv4Network | IPv6Network] = []
        self._logged: set[str] = set()
        for host in allowed:
            try:
                self._networks.append(ip_network(host))
            except ValueError:
                self._names.add(_name(host))

    async def address_of(self, host: str) -> str:
        """Return where to connect for a camera at this host. Raises PrinterRefused.

        A name is resolved here and its address is what the agent connects to: between two look-ups
        the answer could change.
        """
        if _name(host) in self._names:
            return host
        for address in await _resolve(host):
            if await self._may_ask(address):
                return address
        raise self._refused(host)

    async def _may_ask(self, text: str) -> bool:
        address = _plain(text)
        if address.is_loopback or address.is_unspecified or is_own_address(str(address)):
            return True
        if any(address in network for network in self._networks):
            return True
        return address in map(_plain, await _resolve(self._printer))

    def _refused(self, host: str) -> PrinterRefused:
        sentence = in_english(
            "The camera is at %(host)s, which is neither the printer nor the agent's machine."
            " Whoever runs the agent can allow it there with --camera-host %(host)s.",
            host=host,
        )
        if host not in self._logged and len(self._logged) < MAX_LOGGED:
            self._logged.add(host)
            log.warning("%s", sentence)
        return PrinterRefused(CommandStatus.NOT_CONNECTED, sentence)


def is_own_address(address: str) -> bool:
    """Return whether it is this machine's address: packets to it would have it as source."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _PORT))  # sends nothing
            return _plain(str(probe.getsockname()[0])) == _plain(address)
    except OSError:
        return False


def _name(host: str) -> str:
    return host.rstrip(".").lower()


def _plain(address: str) -> IPv4Address | IPv6Address:
    """Return an IPv4 address that is written as an IPv6 one as the IPv4 address."""
    parsed = ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


async def _resolve(host: str) -> list[str]:
    """Return the addresses of a name, or the one that it is. Raises PrinterRefused."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_WITHIN_S):
            addresses = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except TimeoutError:
        reason = in_english(
            "%(host)s was not found in %(seconds)s s",
            host=host,
            seconds=f"{RESOLVE_WITHIN_S:.0f}",
        )
    except (OSError, UnicodeError):
        reason = in_english("%(host)s was not found", host=host)
    else:
        return [str(address[0]) for *_, address in addresses]
    raise no_picture(reason) from None
