"""The table of printer kinds: what the agent needs to know before it connects to one.

Data only. What a kind can do, and how, lives in its own folder, which is imported when the
kind is used and not before: an agent serves one printer and carries the code of one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.contract.platforms import PlatformFacts, facts_of

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterKind:
    """One kind of printer.

    name: of its facts in `contract/platforms.py`.
    port: where it listens when an address names no port; the web server's, if it has one.
    usual_host: where it usually is, seen from the agent; None for a printer with an address of
        its own, which nobody can guess.
    is_built_in: the agent runs one itself where no address is given.
    wants_outside_host: its pages derive cookie names, links and redirects from the address the
        browser used, so it is told in X-Forwarded-Host and X-Forwarded-Proto.
    adapter: the module that makes its adapter, with `make(PrinterSetup)`; "" where there is none.
    """

    name: str
    port: int = 80
    usual_host: str | None = None
    is_built_in: bool = False
    wants_outside_host: bool = False
    adapter: str = ""

    @property
    def facts(self) -> PlatformFacts:
        return facts_of(self.name)


_TABLE: Final = (
    PrinterKind(
        name="octoprint",
        port=5000,
        usual_host=LOOPBACK,
        wants_outside_host=True,
        adapter="printreach.printers.octoprint.adapter",
    ),
    PrinterKind(
        name="moonraker",
        port=7125,
        usual_host=LOOPBACK,
        adapter="printreach.printers.moonraker.adapter",
    ),
    PrinterKind(
        name="bambu",
        port=8883,
        adapter="printreach.printers.bambu.adapter",
    ),
    PrinterKind(name="prusalink", adapter="printreach.printers.prusalink.adapter"),
    PrinterKind(name="elegoo", adapter="printreach.printers.elegoo.adapter"),
    PrinterKind(name="duet", adapter="printreach.printers.duet.adapter"),
    PrinterKind(
        name="simulated",
        is_built_in=True,
        adapter="printreach.printers.simulated.adapter",
    ),
)

KINDS: Final[Mapping[str, PrinterKind]] = MappingProxyType({kind.name: kind for kind in _TABLE})
