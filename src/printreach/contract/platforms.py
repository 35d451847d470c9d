"""The platforms, and the facts of each that agents, the service and its pages all go by.

A platform's name is stored, and said at sign-in and on the command line. How an agent reaches one
is in `printers/registry.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class PlatformFacts:
    """The facts that hold for every printer of one platform.

    name: as the command line and the wire write it. title: as its makers write it, for people.
    has_web_server: it has pages of its own, so there is something to tunnel to and to open.
    key_maker: the software that agents can ask for an API key for an app; "" where none can be
        made.
    sends_referer: its own pages let browsers say which page a request came from.
    is_simulated: it is no machine, and needs no agent to be installed beside it.
    """

    name: str
    title: str
    has_web_server: bool = True
    key_maker: str = ""
    sends_referer: bool = True
    is_simulated: bool = False


_TABLE: Final = (
    # OctoPrint's index has `<meta name="referrer" content="no-referrer">`.
    PlatformFacts(name="octoprint", title="OctoPrint", key_maker="OctoPrint", sends_referer=False),
    PlatformFacts(name="moonraker", title="Klipper (Moonraker)", key_maker="Moonraker"),
    # MQTT, FTPS and a camera port, and no page on any of them.
    PlatformFacts(name="bambu", title="Bambu Lab", has_web_server=False),
    PlatformFacts(name="prusalink", title="PrusaLink"),
    PlatformFacts(name="elegoo", title="Elegoo"),
    PlatformFacts(name="duet", title="Duet"),
    PlatformFacts(name="simulated", title="Simulated printer", is_simulated=True),
)

PLATFORM_FACTS: Final[Mapping[str, PlatformFacts]] = MappingProxyType(
    {facts.name: facts for facts in _TABLE}
)
UNKNOWN_PLATFORM: Final = PlatformFacts(name="", title="")


def facts_of(platform: str | None) -> PlatformFacts:
    """platform: as an agent said it, which may be newer than this service; None before it did."""
    return PLATFORM_FACTS.get(platform or "", UNKNOWN_PLATFORM)
