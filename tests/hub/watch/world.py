"""The watch over one printer's print, with a camera and a scorer that show what a test says."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import (
    CurrentPrint,
    DetectorStatus,
    JobStatus,
    ServiceStatus,
    State,
    StatusResult,
    WebcamList,
)
from printreach.hub.prints.snapshots import Snapshots
from printreach.hub.watch import WatchParts, WatchStarter
from printreach.hub.watch.rounds import WatchRounds
from printreach.ports.printer_http import NO_QUERY, PrinterAnswer, PrinterRefusal
from printreach.ports.scoring import ImageScore, ScoringRefused
from printreach.rules.detection import ImageAssessment
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.detection.scene import SIDE, Scene
from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch.choices import Judgement, LastLook, Look, Region, WatchSettings
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records
from tests.fakes.memory_bus import MemoryBus
from tests.fakes.printer_http import FakePrinterHttp, Ordered
from tests.hub.world import PRINTER_ID, OpenWorld, World
from tests.rules.detection.test_jpeg import picture

GOOD, BAD = 0.02, 0.99
BED = tuple(60 + 6 * (place % SIDE) + 3 * (place // SIDE) for place in range(SIDE * SIDE))
PRINT = "print-1"
SECOND = timedelta(seconds=1)
STEP_S = 10
NO_CAMERA = PrinterRefusal(404, "There is no camera.")
BROKEN_CAMERA = PrinterRefusal(750, "The camera gave no picture.")


class PowerCut(Exception):
    """Stands for the end of a worker: nothing of it is written any more."""


@dataclass
class Machine(FakePrinterHttp):
    """A printer with cameras. camera: what they give. cameras: which were asked.

    on_order: what happens as it is paused; it may raise. on_picture: as a picture is taken.
    on_ask: as it is asked for its status.
    """

    camera: bytes | PrinterRefusal = b""
    cameras: list[str] = field(default_factory=list)
    on_order: Callable[[], Awaitable[None] | None] = lambda: None
    on_picture: Callable[[], Awaitable[None] | None] = lambda: None
    on_ask: Callable[[], Awaitable[None] | None] = lambda: None

    def prints(self, state: State = State.PRINTING, print_id: str = PRINT) -> None:
        self.statuses[PRINTER_ID] = StatusResult(
            job_status=JobStatus(
                state=state,
                current_print=CurrentPrint(file_name="benchy.gcode", progress=42.0),
            ),
            service_status=ServiceStatus(most_recent_print_id_str=print_id),
            platform_version="1.0",
            features=63,
            list_webcams=WebcamList(),
        )

    def pauses(self) -> None:
        self.prints(State.PAUSED)

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        meanwhile = self.on_ask()
        if meanwhile is not None:
            await meanwhile
        return await super().ask(printer, command, query)

    async def order(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        arguments: bytes = b"",
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        self.orders.append(Ordered(printer.printer_id, command, query, arguments))
        meanwhile = self.on_order()
        if meanwhile is not None:
            await meanwhile
        return self._answer(printer, command)

    @asynccontextmanager
    async def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AsyncIterator[PrinterAnswer | PrinterRefusal]:
        self.cameras.append(query["index"])
        meanwhile = self.on_picture()
        if meanwhile is not None:
            await meanwhile
        if isinstance(self.camera, PrinterRefusal):
            yield self.camera
            return

        async def chunks(body: bytes) -> AsyncIterator[bytes]:
            yield body

        yield PrinterAnswer("image/jpeg", None, chunks(self.camera))


@dataclass
class FakeScorer:
    """ports.scoring.Scorer. probability: of the next pictures. shown: how many were scored."""

    probability: float = GOOD
    load: float = 0.0
    refusal: ScoringRefused | None = None
    off: DetectorOff | None = None
    shown: int = 0
    masked: Sequence[Region] = ()

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> ImageScore:
        self.shown += 1
        self.masked = masked
        if self.refusal is not None:
            raise self.refusal
        assessment = ImageAssessment(
            probability=self.probability,
            scene=Scene(grey=BED, digest=self.shown),
            evidence=((self.probability,) * 2,) * 2,
        )
        return ImageScore(assessment=assessment, load=self.load)


@dataclass
class WatchWorld:
    world: World
    account_id: str
    machine: Machine
    scorer: FakeScorer
    states: MemoryDetectorStates
    parts: WatchParts
    rounds: WatchRounds

    def another_worker(self) -> WatchRounds:
        return rounds_of(self.parts)

    async def happens(self, kind: EventType, print_id: str = PRINT, error: str = "") -> None:
        """An event of the printer's agent is handed out."""
        at = self.world.clock.now()
        event = PrintEvent(
            event_id=f"event-{secrets.token_hex(8)}",
            event_type=kind,
            event_time_sec=int(at.timestamp()),
            print_id=print_id,
        )
        stored = StoredEvent(
            seq=1,
            account_id=self.account_id,
            printer_id=PRINTER_ID,
            event=msgspec.json.decode(msgspec.json.encode(event), type=PrintEvent),
            received_at=at,
        )
        await self.world.store.write(lambda records: WatchStarter().consume(records, stored))

    async def choose(self, settings: WatchSettings) -> None:
        await self.world.store.write(
            lambda records: records.watch_settings.put(PRINTER_ID, self.account_id, settings)
        )

    async def judge(self, judgement: Judgement) -> None:
        await self.world.store.write(lambda records: records.watches.judge(judgement))

    async def look(self) -> int:
        """One pass, and what it began; how many prints were claimed."""
        count = await self.rounds.begin_due()
        await self.rounds.settled()
        return count

    async def goes_on(
        self, seconds: float, probability: float | None = None, *, every_s: float = STEP_S
    ) -> None:
        """So much time passes, and a pass is made every so often.

        probability: what the camera shows from now on is so likely a failure.
        """
        if probability is not None:
            self.scorer.probability = probability
        for _ in range(round(seconds / every_s)):
            self.world.clock.advance(every_s * SECOND)
            await self.look()

    async def told(self) -> list[PrintEvent]:
        """The watch's own events so far."""

        async def look(records: Records) -> list[PrintEvent]:
            awaiting = await records.events.awaiting_fan_out(100)
            return [one.event for one in awaiting.events]

        return await self.world.store.read(look)

    async def kinds(self) -> list[int]:
        return [event.event_type for event in await self.told()]

    async def looks(self, print_id: str = PRINT) -> Sequence[Look]:
        return await self.world.store.read(
            lambda records: records.watches.looks(PRINTER_ID, print_id)
        )

    async def alarms(self) -> Sequence[LastLook]:
        return await self.world.store.read(
            lambda records: records.watches.alarms(PRINTER_ID, PRINT)
        )

    async def last(self) -> LastLook | None:
        return await self.world.store.read(lambda records: records.watches.last(PRINTER_ID, PRINT))

    async def said(self) -> DetectorStatus | None:
        """Of the print; None where nothing was."""
        said = await self.states.latest(PRINTER_ID)
        return said.status if said is not None and said.print_id == PRINT else None

    def pictures(self) -> int:
        """How many are kept."""
        return len(list(self.world.data_dir.rglob("*.jpg")))


def rounds_of(parts: WatchParts) -> WatchRounds:
    """A worker's rounds."""
    return WatchRounds(core=parts.core, parts=parts)


@asynccontextmanager
async def watching(
    open_world: OpenWorld, settings: WatchSettings | None = None
) -> AsyncIterator[WatchWorld]:
    """Ada's printer prints, and its start was told."""
    async with open_world() as world:
        printer = await world.set_up()
        here = _watch(world, printer.account_id)
        if settings is not None:
            await here.choose(settings)
        await here.happens(EventType.STARTED)
        yield here


@asynccontextmanager
async def watching_again(open_world: OpenWorld) -> AsyncIterator[WatchWorld]:
    """The same later, by another process: all but the store begins anew, and time has passed."""
    async with open_world() as world:
        world.clock.advance(3600 * SECOND)
        printer = await world.store.read(lambda records: records.printers.linked(PRINTER_ID))
        assert printer is not None
        yield _watch(world, printer.account_id)


def _watch(world: World, account_id: str) -> WatchWorld:
    machine, scorer = Machine(camera=picture()), FakeScorer()
    machine.prints()
    states = MemoryDetectorStates(MemoryBus())
    parts = WatchParts(
        core=world.core,
        http=machine,
        scorer=scorer,
        snapshots=Snapshots(
            core=world.core,
            kept=DiskSnapshots(world.data_dir / "snapshots"),
            http=machine,
        ),
        states=states,
    )
    return WatchWorld(world, account_id, machine, scorer, states, parts, rounds_of(parts))
