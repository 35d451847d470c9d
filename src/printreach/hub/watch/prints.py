"""What the watch saw of prints, for pages."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from printreach.contract.events import EventType
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.hub.notifications import is_notified_of
from printreach.hub.printers import own_printer
from printreach.ports.snapshots import SnapshotStore
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.notifications.push import ActOffer
from printreach.rules.printers import Printer
from printreach.rules.watch.background import CameraBackground, still_counting
from printreach.rules.watch.choices import Judgement, LastLook, Look, WatchSettings, levels_after
from printreach.store.store import Records


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchOfPrint:
    """All that is known of a watched print. last: the latest look, with its evidence.

    alarm: the latest look that warned or paused, if its evidence is still kept. acts: what was done
    from notifications. tells_nobody: its owner would get no notification of a warning. off: why
    this service runs no failure watch; None if it does.
    """

    print_id: str
    settings: WatchSettings
    off: DetectorOff | None
    looks: Sequence[Look] = ()
    last: LastLook | None = None
    alarm: LastLook | None = None
    judgement: Judgement | None = None
    acts: Sequence[ActOffer] = ()
    tells_nobody: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchOfPrinter:
    """The settings, the levels in force after the owner's answers, and every answer.

    background: what the chosen camera has learnt. tells_nobody, off: as of a print.
    """

    settings: WatchSettings
    levels: tuple[int, int]
    judged: Sequence[Judgement]
    background: CameraBackground
    tells_nobody: bool
    off: DetectorOff | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedPrints:
    """Reads and changes nothing. kept: where pictures are stored.

    has_mail_server: without one, a mail address gets no warning. why_off: returns why this service
    runs no failure watch now, None if it does.
    """

    core: Core
    kept: SnapshotStore
    why_off: Callable[[], DetectorOff | None]

    async def of_printer(self, account_id: str, printer_id: str) -> WatchOfPrinter | Denied:
        at = self.core.clock.now()

        async def look(records: Records) -> WatchOfPrinter | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            settings = await records.watch_settings.get(printer_id)
            judged = await records.watches.judged(printer_id)
            background = await records.watch_backgrounds.get(printer_id, settings.camera or 0)
            return WatchOfPrinter(
                settings=settings,
                levels=levels_after(settings, still_counting(judged, background), at),
                judged=judged,
                background=background,
                tells_nobody=await self._tells_nobody(records, printer),
                off=self.why_off(),
            )

        return await self.core.store.read(look)

    async def of_print(
        self, account_id: str, printer_id: str, print_id: str
    ) -> WatchOfPrint | Denied:
        """Return what is known of a print; only settings and answers if it was not watched
        recently."""

        async def look(records: Records) -> WatchOfPrint | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            settings = await records.watch_settings.get(printer_id)
            if not print_id:
                return WatchOfPrint(print_id="", settings=settings, off=self.why_off())
            judged = await records.watches.judged(printer_id)
            alarms = await records.watches.alarms(printer_id, print_id)
            return WatchOfPrint(
                print_id=print_id,
                settings=settings,
                off=self.why_off(),
                looks=await records.watches.looks(printer_id, print_id),
                last=await records.watches.last(printer_id, print_id),
                alarm=alarms[-1] if alarms else None,
                judgement=next(
                    (judgement for judgement in judged if judgement.print_id == print_id), None
                ),
                acts=await records.pushes.done(account_id, printer_id, print_id),
                tells_nobody=await self._tells_nobody(records, printer),
            )

        return await self.core.store.read(look)

    async def newest_looks(
        self, prints: Mapping[str, str], at_most: int
    ) -> dict[str, Sequence[Look]]:
        """Return the newest looks at each print, by its printer, oldest first.

        prints: by printers that the reader may see.
        """

        async def look(records: Records) -> dict[str, Sequence[Look]]:
            return {
                printer_id: await records.watches.newest_looks(printer_id, print_id, at_most)
                for printer_id, print_id in prints.items()
            }

        return await self.core.store.read(look) if prints else {}

    async def picture(
        self, account_id: str, printer_id: str, print_id: str, at: datetime
    ) -> bytes | None:
        """Return the picture of the look at that time, if it is kept."""

        async def find(records: Records) -> str | None:
            last = await records.watches.last(printer_id, print_id)
            alarms = await records.watches.alarms(printer_id, print_id)
            kept = [*alarms, last] if last is not None else alarms
            return next((look.picture for look in kept if look.look.at == at), None)

        return await self._own_picture(account_id, printer_id, find)

    async def judged_picture(self, account_id: str, printer_id: str, print_id: str) -> bytes | None:
        """Return the picture that was kept with the answer about a print."""

        async def find(records: Records) -> str | None:
            judged = await records.watches.judged(printer_id)
            return next(
                (judgement.picture for judgement in judged if judgement.print_id == print_id), None
            )

        return await self._own_picture(account_id, printer_id, find)

    async def _own_picture(
        self,
        account_id: str,
        printer_id: str,
        find: Callable[[Records], Awaitable[str | None]],
    ) -> bytes | None:
        """Return the picture whose id is found, if it and the printer belong to that account."""

        async def look(records: Records) -> str | None:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return None
            snapshot_id = await find(records)
            known = await records.snapshots.get(snapshot_id) if snapshot_id is not None else None
            return snapshot_id if known is not None and known.account_id == account_id else None

        snapshot_id = await self.core.store.read(look)
        return None if snapshot_id is None else await self.kept.get(snapshot_id)

    async def _tells_nobody(self, records: Records, printer: Printer) -> bool:
        return not await is_notified_of(
            records,
            printer.account_id,
            printer.printer_id,
            EventType.POSSIBLE_FAILURE,
            has_mail_server=self.core.has_mail_server,
        )
