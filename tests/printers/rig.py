"""The interface of a rig of the contract suite: a running printer, and ways to disturb it."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, TypeVar

from printreach.contract.status import Feature
from printreach.printers.operations import Operation, Platform
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.fakes.fast_loop import FastLoop
from tests.printers.print_file import PrintFile
from tests.printers.sliced import sliced

T = TypeVar("T")

SPEED = 8.0
"""Of the time of a fake and its adapter. More would gain little: they compute as well."""


class PrinterRig:
    """A printer and its provocations. One object serves a module; `open` is entered for each test.

    platform: its column of docs/platforms.md. lacks: what it can't of what that says only some can.
    features: what this printer can do, exactly. heaters: what set-temp may name, of `BedC`,
    `ToolC`, `ChamberC`; `open` leaves them off. tells_adjustments: its status has those that it
    takes. has_camera: `open` provides one, which gives pictures. smart_pause: what the platform
    can do of it. has_folders: its files may lie in folders.
    nonsense_ends_contact: the agent leaves when it hears it, and comes back.
    serves_files_alone: files can be reached while it is disconnected. tells_filament: the status
    tells how much a feeding_print takes. spools_uploads: the agent keeps an upload of unknown size
    on its disk until it has all of it. thumbnail_edges: of pictured_print, by the size that is
    asked for. patience_s: within which a state shows. speed: how fast the
    time of the printer and of the adapter goes; more than 1 where the printer is a fake.
    """

    platform: ClassVar[Platform]
    lacks: ClassVar[frozenset[Operation]] = frozenset()
    features: ClassVar[Feature]
    heaters: ClassVar[frozenset[str]] = frozenset({"BedC", "ToolC"})
    tells_adjustments: ClassVar[bool] = True
    has_camera: ClassVar[bool] = True
    smart_pause: ClassVar[frozenset[Operation]] = frozenset()
    has_folders: ClassVar[bool] = True
    nonsense_ends_contact: ClassVar[bool] = False
    serves_files_alone: ClassVar[bool] = False
    tells_filament: ClassVar[bool] = False
    spools_uploads: ClassVar[bool] = False
    thumbnail_edges: ClassVar[Mapping[int, int]] = {16: 32, 100: 220, 2000: 220}
    patience_s: ClassVar[float] = 45.0
    speed: ClassVar[float] = 1.0

    def run(self, test: Coroutine[Any, Any, T]) -> T:
        """Run a test on an event loop of its own, whose clock goes at this speed."""
        factory = None if self.speed == 1.0 else lambda: FastLoop(self.speed)
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(test)

    def open(self) -> AbstractAsyncContextManager[None]:
        """The printer: connected, idle, cold, no file on it. Leaving may stop or only reset it."""
        raise NotImplementedError

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        """machine with the printer's address and credentials in it."""
        raise NotImplementedError

    def make(self, setup: PrinterSetup) -> Printer:
        """The adapter."""
        raise NotImplementedError

    @property
    def can_light(self) -> bool:
        return Feature.LIGHT_CONTROL in self.features

    # --- prints ---------------------------------------------------------------------------------

    def long_print(self) -> PrintFile:
        """Prints for a minute or longer, and pauses, resumes and cancels within a second."""
        raise NotImplementedError

    def short_print(self) -> PrintFile:
        """Is complete within a few seconds."""
        raise NotImplementedError

    async def feeding_print(self) -> PrintFile:
        """Takes filament, and is complete within some seconds."""
        return self.short_print()

    def hot_print(self) -> PrintFile:
        """As long_print, with bed and hotend heated. For smart pause."""
        raise NotImplementedError

    def pausing_print(self) -> PrintFile | None:
        """As hot_print, with a pause after three seconds; None where this rig reads no file."""
        return None

    def asking_print(self) -> PrintFile | None:
        """Asks for another filament a moment after its start; None where nobody would hear of it.

        Either the platform doesn't tell, or this rig's printer can't be made to ask.
        """
        return None

    def pictured_print(self) -> PrintFile:
        """A print with thumbnails of 32 and of 220 pixels."""
        return sliced()

    def large_file(self, size: int) -> bytes:
        """A file of about that size that need not be printed, but is taken for a print."""
        line = b"; a comment that fills the file with what is no order at all 0123456789\n"
        return b"G28\n" + line * (size // len(line))

    @property
    def suffix(self) -> str:
        """The suffix of its prints' names."""
        return ".gcode"

    async def warm_up_for_extrusion(self, printer: Printer) -> None:
        """Heat the hotend where the printer extrudes only when it is hot."""

    # --- provocations ---------------------------------------------------------------------------

    async def fail_print(self) -> None:
        """Let the running print end in a fault."""
        raise NotImplementedError

    async def disconnect(self) -> None:
        """The printer goes away: 785 follows."""
        raise NotImplementedError

    async def reconnect(self) -> None:
        """It comes back."""
        raise NotImplementedError

    async def talk_nonsense(self) -> None:
        """Send what no printer sends: text that is no JSON, other shapes, 10 MB at once."""
        raise NotImplementedError

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        """None: the platform asks for none."""
        raise NotImplementedError
