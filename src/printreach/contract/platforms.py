"""The platforms, and the facts of each that agents, the service and its pages all go by.

A platform's name is stored, and said at sign-in and on the command line. It is also the name of its
folder in `printers/`, which an agent imports when it serves such a printer and not before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlatformFacts:
    """The facts that hold for every printer of one platform.

    name: as the command line and the wire write it. title: as its makers write it, for people.
    has_web_server: it has pages of its own, so there is something to tunnel to and to open.
    port: where it listens when an address names no port; the web server's, if it has one.
    usual_host: where it usually is, seen from the agent; None for a printer with an address of
        its own, which nobody can guess.
    wants_outside_host: its pages derive cookie names, links and redirects from the address the
        browser used, so it is told in X-Forwarded-Host and X-Forwarded-Proto.
    key_maker: the software that agents can ask for an API key for an app; "" where none can be
        made.
    sends_referer: its own pages let browsers say which page a request came from.
    is_simulated: it is no machine: the agent runs one itself where no address is given.
    prints: the ends of names of files that it prints, in lower case.
    example_variable, example_address: of the environment and of the printer, in the command that a
        page shows for its agent. install_hint: what a person puts in their place.
    """

    name: str
    title: str
    has_web_server: bool = True
    port: int = 80
    usual_host: str | None = None
    wants_outside_host: bool = False
    key_maker: str = ""
    sends_referer: bool = True
    is_simulated: bool = False
    prints: tuple[str, ...] = (".gcode", ".gco", ".g")
    example_variable: str = ""
    example_address: str = "http://192.168.1.50"
    install_hint: str = ""


_TABLE: Final = (
    # OctoPrint's index has `<meta name="referrer" content="no-referrer">`.
    PlatformFacts(
        name="octoprint",
        title="OctoPrint",
        port=5000,
        usual_host=LOOPBACK,
        wants_outside_host=True,
        key_maker="OctoPrint",
        sends_referer=False,
        prints=(".gcode", ".gco", ".g", ".bgcode"),  # the last one with a plugin
        example_variable="PRINTREACH_PRINTER_API_KEY=your-key",
        example_address="http://127.0.0.1:5000",
        install_hint="your-key: make one in OctoPrint, as an administrator, under Settings,"
        " Application Keys, “Manually generate”.",
    ),
    PlatformFacts(
        name="moonraker",
        title="Klipper (Moonraker)",
        port=7125,
        usual_host=LOOPBACK,
        key_maker="Moonraker",
        prints=(".gcode", ".gco", ".g", ".ufp", ".nc"),
        example_address="http://127.0.0.1:7125",
        install_hint="Only where the agent runs on another machine than Moonraker and is none of"
        " its trusted clients: put PRINTREACH_PRINTER_API_KEY=your-key before it.",
    ),
    # MQTT, FTPS and a camera port, and no page on any of them.
    PlatformFacts(
        name="bambu",
        title="Bambu Lab",
        has_web_server=False,
        prints=(".gcode", ".3mf"),
        port=8883,
        example_variable="PRINTREACH_PRINTER_ACCESS_CODE=12345678",
        example_address="192.168.1.50",
        install_hint="12345678: the access code, and 192.168.1.50: the printer's address. Both are"
        " on its screen, under its network settings.",
    ),
    PlatformFacts(
        name="prusalink",
        title="PrusaLink",
        prints=(".gcode", ".gco", ".g", ".gc", ".bgcode", ".bgc"),
        example_variable="PRINTREACH_PRINTER_PASSWORD=your-password",
        install_hint="your-password: PrusaLink's, and 192.168.1.50: the printer's address. Both are"
        " on its screen, under its network settings. The user is maker; for another, put"
        " PRINTREACH_PRINTER_USER=name before it.",
    ),
    PlatformFacts(
        name="elegoo",
        title="Elegoo",
        prints=(".gcode", ".ctb", ".goo"),
        example_address="192.168.1.50",
        install_hint="192.168.1.50: the printer's address, on its screen. A Centauri Carbon 2 also"
        " wants PRINTREACH_PRINTER_ACCESS_CODE=code before it.",
    ),
    PlatformFacts(
        name="duet",
        title="Duet",
        prints=(".gcode", ".gco", ".g", ".gc", ".nc"),
        install_hint="192.168.1.50: the address of the board, which runs RepRapFirmware. Where it"
        " has a password (M551), put PRINTREACH_PRINTER_PASSWORD=your-password before it.",
    ),
    PlatformFacts(name="simulated", title="Simulated printer", is_simulated=True),
)

PLATFORM_FACTS: Final[Mapping[str, PlatformFacts]] = MappingProxyType(
    {facts.name: facts for facts in _TABLE}
)
UNKNOWN_PLATFORM: Final = PlatformFacts(name="", title="")


def can_print(platform: str | None, name: str) -> bool:
    """Return whether a printer of the platform prints files of such a name.

    One of a platform that this service doesn't know may print anything.
    """
    facts = facts_of(platform)
    return facts is UNKNOWN_PLATFORM or name.lower().endswith(facts.prints)


def facts_of(platform: str | None) -> PlatformFacts:
    """platform: as an agent said it, which may be newer than this service; None before it did."""
    return PLATFORM_FACTS.get(platform or "", UNKNOWN_PLATFORM)
