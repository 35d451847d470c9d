"""The pages about an account's notifications: events, quiet hours, destinations, unsubscribing."""

from dataclasses import dataclass
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import Template

from printreach.hub.denied import Denied
from printreach.hub.notifications import Notifications, WrongField
from printreach.hub.notifications.sending import NO_MAIL_SERVER
from printreach.languages import N_
from printreach.rules.accounts import Account
from printreach.rules.notifications import CHOICES, Destination, Events
from printreach.rules.notifications.channels import CHANNEL_BY_NAME, CHANNELS
from printreach.rules.rate_limits import TooSoon
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.routing import DeclaredRouter
from printreach.web.security import KEYED
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, in_words

PAGE: Final = "/notifications"
_BOX: Final = "event-"
_PRINTER: Final = PAGE + "/printers/{printer_id:str}"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationPages:
    """The pages of one account.

    push_key: what browsers subscribe with. off: why no print is looked at for failures on this
    service; "" if failure detection runs.
    """

    hub: Notifications
    account: Account
    push_key: str
    off: str = ""

    @property
    def account_id(self) -> str:
        return self.account.account_id

    async def overview(
        self, wrong: WrongField | None = None, status: int = ERROR_STATUS
    ) -> Template:
        """Render all settings."""
        chosen = await self.hub.chosen(self.account_id)
        return _page(
            "notifications.html",
            wrong,
            status,
            chosen=chosen,
            settings=chosen.settings,
            choices=_choices(chosen.settings.events),
            off=self.off,
            zones=[(name, name.replace("_", " ")) for name in self.hub.zones.names()],
            channels=CHANNEL_BY_NAME,
            push_key=self.push_key,
            limit=self.hub.daily_limit,
            no_mail_server=NO_MAIL_SERVER,
        )

    def adding(
        self, channel: str, typed: Fields | None = None, wrong: WrongField | None = None
    ) -> Template:
        """Render the list of channels, or the form of the chosen one."""
        return _page(
            "add.html",
            wrong,
            channels=CHANNELS,
            channel=CHANNEL_BY_NAME.get(channel),
            email=self.account.email,
            typed=typed or Fields({}),
        )

    async def of_printer(self, printer_id: str, wrong: WrongField | None = None) -> Template:
        """Render one printer's choice. Raises NotFoundException for another account's printer."""
        chosen = await self.hub.chosen(self.account_id)
        shared = {row.printer.printer_id: row for row in chosen.shared}
        own_printers = {printer.printer_id: printer for printer in chosen.printers}
        if printer_id not in {*own_printers, *shared}:
            raise NotFoundException(N_("There is no such printer in your account."))
        row = shared.get(printer_id)
        own = chosen.settings.of_printers.get(printer_id)
        return _page(
            "printer.html",
            wrong,
            printer=own_printers[printer_id] if row is None else row.printer,
            shared_by="" if row is None else row.owner_email,
            has_own=own is not None,
            off=self.off,
            choices=_choices(chosen.settings.events if own is None else own),
        )

    async def destination(self, destination_id: str) -> Destination:
        """Return a destination of this account. Raises NotFoundException for another's."""
        destination = await self.hub.destination(self.account_id, destination_id)
        if destination is None:
            raise NotFoundException(N_("There is no such channel"))
        return destination


async def provide_pages(signed_in: NamedDependency[SignedIn]) -> NotificationPages:
    off = signed_in.services.watched_prints.why_off()
    return NotificationPages(
        hub=signed_in.services.notifications,
        account=signed_in.account,
        push_key=signed_in.services.devices.public_key,
        off="" if off is None else off.value,
    )


def ticked(fields: Fields) -> list[str]:
    """Return the kinds of events whose boxes are ticked in a form."""
    return [name.removeprefix(_BOX) for name in fields.values if name.startswith(_BOX)]


def _page(
    template: str, wrong: WrongField | None, status: int = ERROR_STATUS, **context: Any
) -> Template:
    """Render a page with a form. status: of the page if a field is wrong."""
    errors = {} if wrong is None else {wrong.field: wrong.sentence}
    return Template(
        f"notifications/{template}",
        context={"errors": errors, **context},
        status_code=200 if wrong is None else status,
    )


def _choices(chosen: Events) -> list[tuple[str, str, bool]]:
    """Return a box for each kind of event: field name, label, whether it is ticked."""
    return [(f"{_BOX}{kind.value}", text, kind in chosen) for kind, text in CHOICES]


@get(PAGE, media_type=MediaType.HTML)
async def overview(pages: NamedDependency[NotificationPages]) -> Response[Any]:
    """Show all settings."""
    return await pages.overview()


@post(PAGE + "/events", media_type=MediaType.HTML)
async def choose_events(
    fields: NamedDependency[Fields], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Choose the events of every printer that has no choice of its own."""
    wrong = await pages.hub.choose_events(pages.account_id, ticked(fields))
    return redirect_with_flash(PAGE, "saved") if wrong is None else await pages.overview(wrong)


@post(PAGE + "/quiet", media_type=MediaType.HTML)
async def choose_quiet(
    fields: NamedDependency[Fields], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Choose the quiet hours."""
    wrong = await pages.hub.choose_quiet(
        pages.account_id,
        is_on=bool(fields["quiet"]),
        begins=fields["begins"],
        ends=fields["ends"],
        zone=fields["zone"],
        trouble_passes=bool(fields["trouble"]),
    )
    return redirect_with_flash(PAGE, "saved") if wrong is None else await pages.overview(wrong)


@get(_PRINTER, media_type=MediaType.HTML)
async def printer_page(
    printer_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Show the events of one printer."""
    return await pages.of_printer(printer_id)


@post(_PRINTER, media_type=MediaType.HTML)
async def choose_for_printer(
    printer_id: FromPath[str],
    fields: NamedDependency[Fields],
    pages: NamedDependency[NotificationPages],
) -> Response[Any]:
    """Choose the events of one printer, or return it to the common choice."""
    own = ticked(fields) if fields["choice"] == "own" else None
    refused = await pages.hub.choose_for_printer(pages.account_id, printer_id, own)
    match refused:
        case Denied():
            raise NotFoundException(refused.sentence)
        case WrongField():
            return await pages.of_printer(printer_id, refused)
        case None:
            return redirect_with_flash(PAGE, "saved")


@get(PAGE + "/add", media_type=MediaType.HTML)
async def ask_for_destination(
    pages: NamedDependency[NotificationPages], way: FromQuery[str | None] = None
) -> Response[Any]:
    """Show the channels, or the form of the chosen one. way: its name, as the URL has it."""
    return pages.adding(way or "")


@post(PAGE + "/add", media_type=MediaType.HTML)
async def add(
    fields: NamedDependency[Fields], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Add a destination."""
    destination = await pages.hub.add(pages.account, fields["way"], fields.values)
    if isinstance(destination, WrongField):
        return pages.adding(fields["way"], fields, destination)
    return redirect_with_flash(PAGE, "added")


@post(PAGE + "/{destination_id:str}/test", media_type=MediaType.HTML)
async def test(
    destination_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Send a test message now and show the outcome beside the destination."""
    tested = await pages.hub.test(pages.account, destination_id)
    anchor = f"place-{destination_id}"
    match tested:
        case TooSoon():
            sentence = N_("Too many tests. Wait %(time)s.", time=in_words(tested.wait_seconds))
            page = await pages.overview(WrongField(anchor, sentence), 429)
            page.headers["Retry-After"] = str(tested.wait_seconds)
            return page
        case Denied():
            await pages.destination(destination_id)
            return await pages.overview(WrongField(anchor, tested.sentence))
        case _:
            return redirect_with_flash(PAGE, "tested")


@get(PAGE + "/{destination_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(
    destination_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Ask for confirmation, since the settings typed for it are deleted too."""
    context = {"destination": await pages.destination(destination_id), "channels": CHANNEL_BY_NAME}
    return Template("notifications/remove.html", context=context)


@post(PAGE + "/{destination_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    destination_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Remove a destination."""
    if not await pages.hub.remove(pages.account_id, destination_id):
        raise NotFoundException(N_("There is no such channel"))
    return redirect_with_flash(PAGE, "removed")


NOTIFICATION_ROUTES = [
    *(overview, choose_events, choose_quiet, printer_page, choose_for_printer),
    *(ask_for_destination, add, test, ask_to_remove, remove),
]


# Unsubscribing by the link in each mail about prints. Its token identifies the account, so nobody
# has to sign in and no cookie is read. Mail programs and their filters open links to scan them, so
# a GET changes nothing. A mail program with its own button sends the POST itself (RFC 8058), not
# from a page of ours.
_STOP_PAGE: Final = "/notifications/stop"
_LARGEST_BODY: Final = 1024
"""Enough for `List-Unsubscribe=One-Click`; the body is ignored."""
_NO_LINK: Final = N_("This unsubscribe link is incomplete or out of date. Was it copied whole?")


@get(_STOP_PAGE, media_type=MediaType.HTML, sync_to_thread=False)
def ask_to_stop(services: NamedDependency[Services], token: FromQuery[str] = "") -> Response[Any]:
    """Ask for confirmation."""
    if services.stops_mails.destination_of(token) is None:
        raise NotFoundException(_NO_LINK)
    return Template("notifications/stop.html", context={"token": token})


@post(_STOP_PAGE, media_type=MediaType.HTML, status_code=200)
async def stop(services: NamedDependency[Services], token: FromQuery[str] = "") -> Response[Any]:
    """Unsubscribe. A repeat changes nothing."""
    if not await services.stops_mails.stop(token):
        raise NotFoundException(_NO_LINK)
    return Template("notifications/stopped.html")


STOP_PAGES = DeclaredRouter(
    "/",
    route_handlers=[ask_to_stop, stop],
    include_in_schema=False,
    opt=dict(KEYED),
    request_max_body_size=_LARGEST_BODY,
)
