"""The platforms, and the facts of each that agents, the service and its pages all go by.

A platform's name is stored, and said at sign-in and on the command line. It is also the name of its
folder in `printers/`, which an agent imports when it serves such a printer and not before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.languages import N_

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
    example_address: in the command by which a page installs its agent; "" where the printer's
        software is found by itself. at_hand: what a person needs for that, in sentences.
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
    example_address: str = "http://192.168.1.50"
    at_hand: str = ""


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
        example_address="",
        at_hand=N_(
            "A browser in which you are signed in to OctoPrint as an administrator: it asks"
            " whether Printreach may access it, and you press Allow. If OctoPrint runs on another"
            " machine, add --printer-url http://its-address:5000."
        ),
    ),
    PlatformFacts(
        name="moonraker",
        title="Klipper (Moonraker)",
        port=7125,
        usual_host=LOOPBACK,
        key_maker="Moonraker",
        prints=(".gcode", ".gco", ".g", ".ufp", ".nc"),
        example_address="",
        at_hand=N_(
            "Nothing on Klipper's own machine. If Moonraker runs on another one, add"
            " --printer-url http://its-address:7125; you are asked for Moonraker's API key unless"
            " the agent's machine is one of its trusted clients."
        ),
    ),
    # MQTT, FTPS and a camera port, and no page on any of them.
    PlatformFacts(
        name="bambu",
        title="Bambu Lab",
        has_web_server=False,
        prints=(".gcode", ".3mf"),
        port=8883,
        example_address="192.168.1.50",
        at_hand=N_(
            "The printer's address, in place of 192.168.1.50, and its access code, which you"
            " are asked for. Both are on its screen, under its network settings."
        ),
    ),
    PlatformFacts(
        name="prusalink",
        title="PrusaLink",
        prints=(".gcode", ".gco", ".g", ".gc", ".bgcode", ".bgc"),
        at_hand=N_(
            "The printer's address, in place of 192.168.1.50, and PrusaLink's password, which"
            " you are asked for. Both are on its screen, under its network settings. The user is"
            " maker; for another, put PRINTREACH_PRINTER_USER=name before sh."
        ),
    ),
    PlatformFacts(
        name="elegoo",
        title="Elegoo",
        prints=(".gcode", ".ctb", ".goo"),
        example_address="192.168.1.50",
        at_hand=N_(
            "The printer's address, in place of 192.168.1.50: it is on its screen. A Centauri"
            " Carbon 2 has an access code there, too, which you are asked for."
        ),
    ),
    PlatformFacts(
        name="duet",
        title="Duet",
        prints=(".gcode", ".gco", ".g", ".gc", ".nc"),
        at_hand=N_(
            "The address of the board, which runs RepRapFirmware, in place of 192.168.1.50, and"
            " its password (M551), which you are asked for: leave it empty where there is none."
        ),
    ),
    PlatformFacts(
        name="simulated",
        title=N_("Simulated printer"),
        is_simulated=True,
        example_address="",
        at_hand=N_("Nothing: it runs inside the agent, for trying things out."),
    ),
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
