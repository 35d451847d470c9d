"""An owner's settings of the failure watch, and their answers about its alarms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import own_printer
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.ports.snapshots import SnapshotStore
from printreach.rules.printers import Printer
from printreach.rules.watch.background import CameraBackground
from printreach.rules.watch.choices import Judgement, WatchSettings, with_consent
from printreach.store.store import Records

_NOTHING_SAID: Final = Denied(
    Reason.INVALID, N_("Failure detection said nothing of this print, or it was too long ago.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchChoices:
    """The owner's use cases about the watch. Others' printers are treated as unknown.

    kept: where pictures are stored.
    """

    core: Core
    kept: SnapshotStore

    async def change(
        self, account_id: str, printer_id: str, chosen: WatchSettings
    ) -> WatchSettings | Denied:
        """Store the settings; which print is not watched stays as it was."""

        async def change(records: Records) -> WatchSettings | Denied:
            before = await records.watch_settings.get(printer_id)
            consented = with_consent(chosen, before, self.core.clock.now())
            after = replace(consented, off_for_print=before.off_for_print)
            return await self._put(records, account_id, printer_id, after)

        return await self.core.store.write(change)

    async def leave_alone(
        self, account_id: str, printer_id: str, print_id: str
    ) -> WatchSettings | Denied:
        """Stop watching that print. print_id: "" watches every print again."""

        async def leave(records: Records) -> WatchSettings | Denied:
            before = await records.watch_settings.get(printer_id)
            after = replace(before, off_for_print=print_id)
            return await self._put(records, account_id, printer_id, after)

        return await self.core.store.write(leave)

    async def undo_judgement(
        self, account_id: str, printer_id: str, print_id: str
    ) -> Printer | Denied:
        """Forget the answer about a print, so that its alarm stands again."""
        at = self.core.clock.now()

        async def undo(records: Records) -> Printer | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            await records.watches.undo_judgement(printer_id, print_id, at)
            await records.notify(Notice(Topic.DETECTOR, printer_id), at)
            return printer

        return await self.core.store.write(undo)

    async def judge(
        self, account_id: str, printer_id: str, print_id: str, *, was_failure: bool
    ) -> Judgement | Denied:
        """Store whether the latest alarm of a print was right, in place of an earlier answer.

        Its picture is kept with the answer if the owner has agreed to that.
        """
        at = self.core.clock.now()

        async def judge(records: Records) -> Judgement | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            alarms = await records.watches.alarms(printer_id, print_id)
            if not alarms:
                return _NOTHING_SAID
            settings = await records.watch_settings.get(printer_id)
            judgement = Judgement(
                printer_id=printer_id,
                print_id=print_id,
                camera=alarms[-1].camera,
                at=at,
                was_failure=was_failure,
                picture=alarms[-1].picture if settings.keeps_frames else None,
            )
            await records.watches.judge(judgement)
            await records.notify(Notice(Topic.DETECTOR, printer_id), at)
            return judgement

        return await self.core.store.write(judge)

    async def forget_pictures(
        self, account_id: str, printer_id: str, print_id: str | None = None
    ) -> int | Denied:
        """Delete the pictures that were kept with answers; return how many. The answers stay.

        print_id: of one print, None for all of the printer's.
        """

        async def forget(records: Records) -> Sequence[str] | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            return await records.watches.let_pictures_go(printer_id, print_id)

        pictures = await self.core.store.write(forget)
        if isinstance(pictures, Denied):
            return pictures
        # First the answers drop their references: a file left behind by a failure is deleted by its
        # age.
        await self.kept.remove(pictures)
        await self.core.store.write(lambda records: records.snapshots.forget(pictures))
        return len(pictures)

    async def forget_learnt(self, account_id: str, printer_id: str) -> CameraBackground | Denied:
        """Forget what the chosen camera has learnt; answers so far count no longer."""
        at = self.core.clock.now()

        async def forget(records: Records) -> CameraBackground | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            settings = await records.watch_settings.get(printer_id)
            forgotten = CameraBackground(forgotten_at=at)
            await records.watch_backgrounds.put(printer.owned, settings.camera or 0, forgotten)
            return forgotten

        return await self.core.store.write(forget)

    async def _put(
        self, records: Records, account_id: str, printer_id: str, settings: WatchSettings
    ) -> WatchSettings | Denied:
        printer = await own_printer(records, account_id, printer_id)
        if isinstance(printer, Denied):
            return printer
        await records.watch_settings.put(printer_id, account_id, settings)
        await records.notify(Notice(Topic.DETECTOR, printer_id), self.core.clock.now())
        return settings
