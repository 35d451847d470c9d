"""Live Links: created by people and apps, opened by anybody who has the address, ended."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.app_answers import DEFAULT_LIVE_HOURS
from printreach.contract.events import MAX_TEXT
from printreach.contract.permissions import Permission
from printreach.contract.status import UNDER_WAY, StatusResult
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import own_printer
from printreach.hub.printers.live import LiveStatus
from printreach.hub.printers.own import OwnPrinters, SeenPrinter
from printreach.languages import N_
from printreach.rules.accounts import may_connect_apps
from printreach.rules.connections import has_ended
from printreach.rules.connections.credentials import new_record_id, new_secret
from printreach.rules.connections.live_links import (
    MAX_LIVE_LINKS,
    LastFacts,
    LiveEnd,
    LiveLink,
    end_of,
    expiry,
    facts_at_end,
    problem_with_hours,
    shows_printer,
)
from printreach.rules.printers import OwnedPrinter
from printreach.rules.prints import print_id_under_way
from printreach.store.listings import PrinterRow
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

FRESH_TIMEOUT_S: Final = 5.0
"""How long a view waits for a printer to tell which print is under way."""
MAX_PRINT_ID: Final = 64
ENDED_KEPT_FOR: Final = timedelta(days=90)
"""How long an ended link says that it has ended; after that it is unknown."""
KNOWN_FOR: Final = timedelta(seconds=2)
MAX_KNOWN: Final = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveWish:
    """What a new link is to show. connection_id: of the app that asks for it."""

    hours: int = DEFAULT_LIVE_HOURS
    ends_with_print: bool = False
    shows_names: bool = False
    connection_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedLiveLink:
    """A link in force as its owner sees it. app: the name of the one that asked for it, or ""."""

    link: LiveLink
    printer_name: str
    app: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveView:
    """What a visitor of the link is shown. end, seen: one of the two is None.

    shows_camera: False where an app made the link that may not use the printer's cameras.
    """

    link: LiveLink
    end: LiveEnd | None = None
    seen: SeenPrinter | None = None
    shows_camera: bool = True


@dataclass(frozen=True, slots=True)
class _Known:
    """A link that was looked up, and when. end: why it shows nothing, other than its own end."""

    at: datetime
    link: LiveLink
    row: PrinterRow | None
    end: LiveEnd | None
    shows_camera: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveLinks:
    """The use cases of Live Links. `look` answers many visitors from memory for a moment."""

    core: Core
    live: LiveStatus
    printers: OwnPrinters
    _known: OrderedDict[str, _Known] = field(default_factory=OrderedDict)
    _looking: dict[str, asyncio.Task[_Known | None]] = field(default_factory=dict)

    async def close(self) -> None:
        """Cancel the lookups under way."""
        tasks = list(self._looking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def make(self, account_id: str, printer_id: str, wish: LiveWish) -> LiveLink | Denied:
        """Create a link to a printer of the account."""
        problem = problem_with_hours(wish.hours)
        if problem is not None:
            return Denied(Reason.INVALID, problem)
        owned = await self.printers.one(account_id, printer_id, ask=False)
        if isinstance(owned, Denied):
            return owned
        print_id = (
            await self._id_of_print_under_way(owned.printer.owned) if wish.ends_with_print else ""
        )
        if isinstance(print_id, Denied):
            return print_id
        at = self.core.clock.now()
        link = LiveLink(
            live_id=new_secret(self.core.token_bytes),
            short_id=new_record_id(self.core.token_bytes),
            account_id=account_id,
            printer_id=printer_id,
            connection_id=wish.connection_id,
            created_at=at,
            expires_at=expiry(at, wish.hours),
            print_id=print_id,
            shows_names=wish.shows_names,
        )
        return await self.core.store.write(lambda records: _add(records, link))

    async def all(self, account_id: str) -> list[ListedLiveLink]:
        """Return the links in force, newest first."""
        at = self.core.clock.now()

        async def look(records: Records) -> list[ListedLiveLink]:
            links = await records.live_links.living_of_account(account_id, at)
            rows = await records.printers.of_account(account_id)
            printers = {row.printer_id: row for row in rows}
            connections = {
                connection.connection_id: connection.app_id
                for connection in await records.connections.of_account(account_id)
            }
            apps = {app.app_id: app.name for app in await records.apps.all()}
            return [
                ListedLiveLink(
                    link=link,
                    printer_name=printers[link.printer_id].name,
                    app=apps.get(connections.get(link.connection_id or "") or "", ""),
                )
                for link in links
                if shows_printer(link, printers.get(link.printer_id))
            ]

        return await self.core.store.read(look)

    async def one(self, account_id: str, live_id: str) -> ListedLiveLink | Denied:
        """Return a link in force of the account."""
        listed = [row for row in await self.all(account_id) if row.link.live_id == live_id]
        return listed[0] if listed else _no_such_link()

    async def end(self, account_id: str, live_id: str) -> LiveLink | Denied:
        """End a link of the account; one that has ended stays as it is."""
        at = self.core.clock.now()

        async def end(records: Records) -> LiveLink | Denied:
            link = await records.live_links.get(live_id)
            if link is None or link.account_id != account_id:
                return _no_such_link()
            last = _facts(self.live.latest(link.printer).status)
            await records.live_links.end(live_id, at, LiveEnd.OWNER, last)
            return link

        ended = await self.core.store.write(end)
        self._known.pop(live_id, None)
        return ended

    # --- for whoever has the address --------------------------------------------------------------

    async def live_id_of(self, short_id: str) -> str | None:
        """Return the id of the link with that short address."""
        link = await self.core.store.read(
            lambda records: records.live_links.with_short_id(short_id)
        )
        return None if link is None else link.live_id

    async def look(self, live_id: str) -> LiveView | None:
        """Return what may be shown now; None if there is no such link."""
        at = self.core.clock.now()
        known = self._known.get(live_id)
        if known is None or abs(at - known.at) >= KNOWN_FOR:
            known = await self._looked_up(live_id, at)
        if known is None:
            return None
        link, row = known.link, known.row
        end = end_of(link, at) or known.end
        if end is not None or row is None:
            return LiveView(link=link, end=end)
        [seen] = self.printers.seen([row])
        status = seen.reading.status if seen.reading.refusal is None else None
        if status is not None and _is_over(link, status):
            return await self._end_with_print(link, status, at)
        return LiveView(link=link, seen=seen, shows_camera=known.shows_camera)

    # --- helpers ----------------------------------------------------------------------------------

    async def _looked_up(self, live_id: str, at: datetime) -> _Known | None:
        """Look the link up, once for all visitors who ask at the same time."""
        task = self._looking.get(live_id)
        if task is None:
            task = self._looking[live_id] = asyncio.create_task(self._look_up(live_id, at))
            task.add_done_callback(lambda _: self._looking.pop(live_id, None))
        return await asyncio.shield(task)

    async def _look_up(self, live_id: str, at: datetime) -> _Known | None:
        async def look(records: Records) -> _Known | None:
            link = await records.live_links.get(live_id)
            if link is None:
                return None
            row = await records.printers.row(link.printer_id)
            owner = await records.accounts.get(link.account_id)
            if owner is None or owner.is_blocked or row is None:
                return _Known(at, link, None, LiveEnd.PRINTER, False)
            if not shows_printer(link, row.printer):
                return _Known(at, link, None, LiveEnd.PRINTER, False)
            if link.connection_id is None:
                return _Known(at, link, row, None, True)
            # A link made by an app shows no more than the app itself may see now.
            app = await records.connections.get(link.connection_id)
            is_let_in = may_connect_apps(self.core.supporters, owner, at)
            if app is None or has_ended(app, at) or not is_let_in:
                return _Known(at, link, None, LiveEnd.APP, False)
            return _Known(at, link, row, None, Permission.CAMERA in app.permissions)

        found = await self.core.store.read(look)
        if found is None:
            return None
        self._known[live_id] = found
        self._known.move_to_end(live_id)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return found

    async def _id_of_print_under_way(self, printer: OwnedPrinter) -> str | Denied:
        await self.live.fresh([printer], FRESH_TIMEOUT_S)
        reading = self.live.latest(printer)
        if reading.status is None or reading.refusal is not None:
            sentence = N_("The printer can't be asked now what it is printing.")
            return Denied(Reason.PRINTER_AWAY, sentence)
        print_id = print_id_under_way(reading.status)
        if not print_id:
            return Denied(
                Reason.NO_ACTIVE_PRINT,
                N_("No print is running for it to end with."),
            )
        return print_id

    async def _end_with_print(
        self, link: LiveLink, status: StatusResult, at: datetime
    ) -> LiveView | None:
        """End a link whose print is over, since a viewer saw the end before its event arrived."""
        is_same = status.service_status.most_recent_print_id_str == link.print_id
        last = _facts(status) if is_same else LastFacts()
        await self.core.store.write(
            lambda records: records.live_links.end(link.live_id, at, LiveEnd.PRINT, last)
        )
        known = await self._look_up(link.live_id, at)
        return None if known is None else LiveView(link=known.link, end=end_of(known.link, at))


class LiveLinkEnder:
    """A consumer of events: ends links that were to end with their print."""

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        at = stored.received_at
        for link in await records.live_links.living_of_printer(stored.printer_id, at):
            last = facts_at_end(link, stored.event)
            if last is not None and link.account_id == stored.account_id:
                await records.live_links.end(link.live_id, at, LiveEnd.PRINT, last)


async def forget_ended_links(core: Core) -> None:
    """Delete links that ended long ago. Raises StoreUnavailable."""
    before = core.clock.now() - ENDED_KEPT_FOR
    await core.store.write(lambda records: records.live_links.forget(before))


async def _add(records: Records, link: LiveLink) -> LiveLink | Denied:
    printer = await own_printer(records, link.account_id, link.printer_id)
    if isinstance(printer, Denied):
        return printer
    living = await records.live_links.living_of_printer(link.printer_id, link.created_at)
    if len(living) >= MAX_LIVE_LINKS:
        sentence = N_(
            "%(name)s has %(living)s Live Links; end one of them first.",
            name=printer.name,
            living=len(living),
        )
        return Denied(Reason.TOO_MANY_CONNECTIONS, sentence)
    await records.live_links.add(link)
    return link


def _is_over(link: LiveLink, status: StatusResult) -> bool:
    if not link.print_id:
        return False
    is_same = status.service_status.most_recent_print_id_str == link.print_id
    return not (is_same and status.job_status.state in UNDER_WAY)


def _facts(status: StatusResult | None) -> LastFacts:
    if status is None:
        return LastFacts()
    job = status.job_status
    return LastFacts(
        state=job.state,
        progress=int(max(0.0, min(100.0, job.current_print.progress))),
        file_name=job.current_print.file_name[:MAX_TEXT],
    )


def _no_such_link() -> Denied:
    return Denied(Reason.NO_SUCH_CONNECTION, N_("There is no such Live Link in your account."))
