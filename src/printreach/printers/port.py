"""The port to a printer of any kind, and the refusals of printers.

An adapter keeps a live view of its printer, so that status costs the printer nothing. Commands are
coroutines that return when the printer has accepted them; they raise PrinterRefused and nothing
else for what a printer or its network may do. Checks that are the same for every kind (arguments,
features, states) are made before, by `rules/printers/commands.py`.
"""

from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from printreach.contract.commands import (
    Adjust,
    CommandStatus,
    Extrude,
    Home,
    MoveAxis,
    Pause,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.materials import MaterialSystem
from printreach.contract.status import NO_FEATURES, Feature, JobStatus, State, WebcamEntry
from printreach.contract.temperatures import Preset
from printreach.contract.unset import UnsetType
from printreach.languages import N_, in_english
from printreach.rules.prints import Need


class PrinterRefused(Exception):
    """A command that was not carried out. The sentence is for the person who sent it.

    status: one of contract.commands.CommandStatus, or 400 to 599 for what only this platform knows.
    features: the orders that the printer takes all the same, such as a restart of its firmware.
    """

    def __init__(self, status: int, sentence: str, features: Feature = NO_FEATURES) -> None:
        super().__init__(sentence)
        self.status = int(status)
        self.sentence = sentence
        self.features = features


def not_supported(sentence: str) -> PrinterRefused:
    """Return a refusal with 788, which says what the printer can't do."""
    return PrinterRefused(CommandStatus.NOT_SUPPORTED, sentence)


def failed(sentence: str) -> PrinterRefused:
    """Return a refusal with 752: the printer was asked and refused."""
    return PrinterRefused(CommandStatus.EXECUTION_FAILED, sentence)


def no_picture(why: str) -> PrinterRefused:
    """Return a refusal with 785 for a camera. why: a sentence without its capital and its stop."""
    return PrinterRefused(
        CommandStatus.NOT_CONNECTED, in_english("The camera gives no picture: %(why)s.", why=why)
    )


def no_such_file(virtual_path: str) -> PrinterRefused:
    return PrinterRefused(
        CommandStatus.NOT_FOUND,
        in_english("There is no file %(path)s.", path=repr(virtual_path)),
    )


def require_tool(argument: str, number: int, tools: Sequence[int]) -> None:
    """Raise PrinterRefused (751) for a tool that the printer doesn't have.

    argument: the name of the argument that says so. tools: the numbers that there are.
    """
    if number in tools:
        return
    values = {"argument": argument, "number": number, "tools": ", ".join(map(str, tools))}
    if not tools:
        sentence = in_english(
            "%(argument)s: there is no extruder %(number)s; this printer has no extruder.", **values
        )
    elif len(tools) == 1:
        sentence = in_english(
            "%(argument)s: there is no extruder %(number)s; this printer has one extruder, number"
            " %(tools)s.",
            **values,
        )
    else:
        sentence = in_english(
            "%(argument)s: there is no extruder %(number)s; this printer has the extruders"
            " %(tools)s.",
            **values,
        )
    raise PrinterRefused(CommandStatus.BAD_ARGUMENTS, sentence)


def require_tools_of(order: SetTemp, tools: Sequence[int]) -> None:
    """Check the tools of set-temp in the same way, whichever heater it is about."""
    if isinstance(order.tool_number, int):
        require_tool("ToolNumber", order.tool_number, tools)


def bad_path(sentence: str) -> PrinterRefused:
    """Return a refusal with 751: a path that leaves its root, or that the platform can't hold."""
    return PrinterRefused(CommandStatus.BAD_ARGUMENTS, sentence)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """The reason why no command reaches the printer: status 785, 787 or 789, and a sentence.

    is_fault: the printer's own software says that it has broken down, so a print is over.
    has_lost_firmware: the software in front of the printer answers, and says that it has no
    connection to the firmware: its files can be reached, and no print outlasts this.
    """

    status: CommandStatus
    sentence: str
    is_fault: bool = False
    has_lost_firmware: bool = False


def trouble_of(refused: PrinterRefused) -> Trouble:
    """Return why a printer was lost; an unforeseen refusal counts as no connection."""
    status = CommandStatus.NOT_CONNECTED
    if refused.status in (CommandStatus.NOT_AUTHORIZED, CommandStatus.TOO_MANY_CLIENTS):
        status = CommandStatus(refused.status)
    return Trouble(status=status, sentence=refused.sentence)


NOT_YET = Trouble(
    status=CommandStatus.NOT_CONNECTED, sentence=N_("The printer has not been reached yet.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """The known state of a printer; at most a second old while trouble is None.

    job: without its material system, which stands in `materials`.
    features: while there is trouble, FIRMWARE_RESTART alone, where that may end it.
    materials: None where the platform could not report any.
    need: what the printer wants of a person now, as far as the platform says.
    height_mm: of the nozzle above the bed, where the platform counts no layers.
    z_offset_mm: by which the print is lifted or lowered.
    error_code: of the error in `job`, as the platform spells it; "" for none.
    """

    trouble: Trouble | None = NOT_YET
    job: JobStatus = field(default_factory=lambda: JobStatus(state=State.IDLE))
    features: Feature = NO_FEATURES
    platform_version: str = ""
    materials: MaterialSystem | None = None
    need: Need | None = None
    height_mm: float | None = None
    z_offset_mm: float | None = None
    error_code: str = ""


def view_without_firmware(sentence: str, platform_version: str) -> View:
    """Return the view while the software in front of the printer has lost its firmware."""
    status = CommandStatus.NOT_CONNECTED
    trouble = Trouble(status=status, sentence=sentence, has_lost_firmware=True)
    return View(trouble=trouble, platform_version=platform_version)


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """A file on its way. size: bytes, where the printer tells. chunks: to be read once."""

    size: int | None
    chunks: AsyncIterator[bytes]


class Camera(Protocol):
    """One camera. The agent's camera hub shares it among viewers."""

    @property
    def entry(self) -> WebcamEntry: ...

    @property
    def source(self) -> Hashable:
        """The source of its pictures with credentials: equal for equal cameras.

        Never shown; what is listed may leave out what tells two cameras apart.
        """
        ...

    def frames(self) -> AsyncIterator[bytes]:
        """JPEG pictures as they come, until closed. Raises PrinterRefused."""
        ...

    async def snapshot(self) -> bytes | None:
        """Return one JPEG picture; None where only frames() gives them. Raises PrinterRefused."""
        ...


class Files(Protocol):
    """A printer's files. Paths are virtual paths, checked to stay inside a root of `roots`."""

    @property
    def roots(self) -> tuple[FileRoot, ...]: ...

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        """Return everything below a root, folders with their children."""
        ...

    async def details(self, path: str) -> FileDetails: ...

    def open(self, path: str) -> AbstractAsyncContextManager[Download]: ...

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        """Return a picture of what the file prints, in any format; None if it has none.

        size_px: of the longer edge; of several pictures the one that fits best is chosen.
        """
        ...

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        """Take a file as it comes. An interrupted upload leaves no file.

        size: bytes, where the uploader tells. The chunks may raise; then nothing is kept. Cancelled
        after the printer has acknowledged the file, it returns all the same: the file stays.
        """
        ...

    async def delete(self, path: str) -> FileDone:
        """Remove a file, or an empty folder (752 for one that isn't)."""
        ...


class Printer(Protocol):
    """One printer, of any kind."""

    async def run(self) -> None:
        """Keep in touch with the printer until cancelled; reconnect by itself, never raise."""

    @property
    def view(self) -> View:
        """The live view; cheap, and never waits."""
        ...

    def on_change(self, callback: Callable[[], None]) -> None:
        """Register a callback for changes of the view. It must not block."""
        ...

    @property
    def files(self) -> Files | None: ...

    @property
    def mqtt(self) -> "MqttEndpoint | None":
        """Return the address of the printer's own MQTT broker, for the proxy."""
        ...

    async def cameras(self) -> list[Camera]:
        """Return the platform's cameras, the default one first.

        Disabled ones too, if the platform lists them.
        """
        ...

    async def pause(self, order: Pause) -> None: ...
    async def resume(self) -> None: ...
    async def cancel(self) -> None: ...
    async def start(self, order: StartPrint) -> FileDone: ...
    async def set_light(self, order: SetLight) -> None: ...
    async def move_axis(self, order: MoveAxis) -> None: ...
    async def home(self, order: Home, /) -> None:
        """Home the axes: all of them, unless its features have AXIS_HOMING."""
        ...

    async def extrude(self, order: Extrude) -> None: ...
    async def set_temp(self, order: SetTemp) -> None: ...


@runtime_checkable
class SupportsEmergencyStop(Protocol):
    """A printer whose firmware stops at once, whatever it does, and takes no orders afterwards."""

    async def emergency_stop(self) -> None: ...


@runtime_checkable
class SupportsFirmwareRestart(Protocol):
    """A printer whose firmware can be restarted, such as after an emergency stop."""

    async def restart_firmware(self) -> None: ...


@runtime_checkable
class SupportsAdjustments(Protocol):
    """A printer with something to adjust; its features say what."""

    async def adjust(self, order: Adjust) -> None: ...


@runtime_checkable
class RestoresPauses(Protocol):
    """A printer whose agent gives back what a smart pause took."""

    @property
    def restores(self) -> "Restores": ...


class Restores(Protocol):
    """The effect of locks of remote control on such a printer."""

    async def lock(self) -> None:
        """Remote control was locked: nothing more is restored before a resume is ordered.

        A smart pause that is under way stays a plain one.
        """
        ...

    def hold(self, *, is_held: bool) -> None:
        """While held, no remote order moves anything: a lock may have been set."""
        ...


@runtime_checkable
class SupportsApiKeys(Protocol):
    """A printer whose software gives each app a key of its own, or has one for all."""

    async def make_api_key(self, app_name: str) -> str:
        """Return a key for this app, the one it has where it has one. Takes no other's away."""
        ...


@runtime_checkable
class SupportsPresets(Protocol):
    """A printer whose software keeps presets."""

    async def presets(self) -> Sequence[Preset]:
        """Return them in their order, whatever their names and temperatures."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class MqttEndpoint:
    """A printer's MQTT broker, with its credentials."""

    host: str
    port: int
    tls: bool
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def require_storage(order: StartPrint, only: str) -> None:
    """Raises PrinterRefused (751) for a place that the printer hasn't got."""
    if not isinstance(order.storage, UnsetType) and order.storage != only:
        raise bad_path(in_english("Storage must be %(only)s.", only=repr(only)))
