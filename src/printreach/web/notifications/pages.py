"""What a person hears of their prints, where they hear it, and when they are left in peace."""

from collections.abc import Sequence
from typing import Any, Final

from litestar import MediaType, Response, Router, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.hub.notifications import Notifications, WrongField
from printreach.ports.notifications import NotifyTarget
from printreach.rules.notifications import CHOICES, Events
from printreach.rules.notify_ways import WAY_BY_NAME, WAYS
from printreach.rules.printers import Printer
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.forms import LARGEST_FORM, Fields, provide_fields
from printreach.web.security import FORM
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, in_words

PAGE: Final = "/notifications"
_PREFIX: Final = "event-"
_SAID: Final = {
    "added": "Added. Send a test to see whether it works.",
    "removed": "Removed.",
    "tested": "The test was sent.",
    "saved": "Saved.",
}


async def provide_notifications(services: NamedDependency[Services]) -> Notifications:
    return services.notifications


@get(PAGE, media_type=MediaType.HTML)
async def overview(
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
    said: FromQuery[str | None] = None,
) -> Template:
    """Everything that was chosen."""
    return await _overview(signed_in, notifications, said=_SAID.get(said or "", ""))


@post(PAGE + "/events", media_type=MediaType.HTML)
async def choose_events(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Response[Any]:
    """What is told of every printer that has no choice of its own."""
    wrong = await notifications.choose_events(signed_in.account.account_id, _ticked(fields))
    if wrong is not None:
        return await _overview(signed_in, notifications, wrong=wrong)
    return _back("saved")


@post(PAGE + "/quiet", media_type=MediaType.HTML)
async def choose_quiet(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Response[Any]:
    """When nothing is told."""
    wrong = await notifications.choose_quiet(
        signed_in.account.account_id,
        is_on=bool(fields["quiet"]),
        begins=fields["begins"],
        ends=fields["ends"],
        zone=fields["zone"],
        trouble_passes=bool(fields["trouble"]),
    )
    if wrong is not None:
        return await _overview(signed_in, notifications, wrong=wrong)
    return _back("saved")


@get(PAGE + "/add", media_type=MediaType.HTML)
async def ask_for_place(
    signed_in: NamedDependency[SignedIn],
    way: FromQuery[str | None] = None,
) -> Template:
    """The ways to be told; then what one of them has to know."""
    return _add_form(signed_in, way or "")


@post(PAGE + "/add", media_type=MediaType.HTML)
async def add(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Response[Any]:
    """Add a place where a person is told."""
    added = await notifications.add(signed_in.account, fields["way"], fields.values)
    if isinstance(added, WrongField):
        return _add_form(signed_in, fields["way"], typed=fields, wrong=added)
    return _back("added")


@post(PAGE + "/{target_id:str}/test", media_type=MediaType.HTML)
async def test(
    target_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Response[Any]:
    """Send a message there now; the answer is told at the place."""
    tested = await notifications.test(signed_in.account, target_id)
    match tested:
        case TooSoon():
            sentence = f"Those were many tests. Wait {in_words(tested.wait_seconds)}."
            headers = {"Retry-After": str(tested.wait_seconds)}
            wrong = WrongField(f"place-{target_id}", sentence)
            page = await _overview(signed_in, notifications, wrong=wrong, status=429)
            page.headers.update(headers)
            return page
        case Denied():
            await _target(signed_in, notifications, target_id)
            wrong = WrongField(f"place-{target_id}", tested.sentence)
            return await _overview(signed_in, notifications, wrong=wrong)
        case _:
            return _back("tested")


@get(PAGE + "/{target_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(
    target_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Template:
    """Ask first: what was typed for it is gone, too."""
    target = await _target(signed_in, notifications, target_id)
    return Template("notifications/remove.html", context={"target": target, "ways": WAY_BY_NAME})


@post(PAGE + "/{target_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    target_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Redirect:
    """Take a place off the list."""
    if not await notifications.remove(signed_in.account.account_id, target_id):
        raise NotFoundException("There is no such place")
    return _back("removed")


@get(PAGE + "/printers/{printer_id:str}", media_type=MediaType.HTML)
async def printer_page(
    printer_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Template:
    """What is told of one printer."""
    return await _printer_form(signed_in, notifications, printer_id)


@post(PAGE + "/printers/{printer_id:str}", media_type=MediaType.HTML)
async def choose_for_printer(
    printer_id: FromPath[str],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    notifications: NamedDependency[Notifications],
) -> Response[Any]:
    """Choose for one printer, or take the choice back."""
    ticked = _ticked(fields) if fields["choice"] == "own" else None
    done = await notifications.choose_for_printer(signed_in.account.account_id, printer_id, ticked)
    if isinstance(done, Denied):
        raise NotFoundException(done.sentence)
    if isinstance(done, WrongField):
        return await _printer_form(signed_in, notifications, printer_id, wrong=done)
    return _back("saved")


# --- what the pages show --------------------------------------------------------------------------


async def _overview(
    signed_in: SignedIn,
    notifications: Notifications,
    *,
    said: str = "",
    wrong: WrongField | None = None,
    status: int = 400,
) -> Template:
    chosen = await notifications.chosen(signed_in.account.account_id)
    context = {
        "chosen": chosen,
        "settings": chosen.settings,
        "choices": _choices(chosen.settings.events),
        "zones": [(name, name.replace("_", " ")) for name in notifications.zones.names()],
        "ways": WAY_BY_NAME,
        "limit": notifications.daily_limit,
        "said": said,
        "errors": {} if wrong is None else {wrong.field: wrong.sentence},
    }
    return Template(
        "notifications/notifications.html",
        context=context,
        status_code=200 if wrong is None else status,
    )


def _add_form(
    signed_in: SignedIn,
    way_name: str,
    *,
    typed: Fields | None = None,
    wrong: WrongField | None = None,
) -> Template:
    context = {
        "ways": WAYS,
        "way": WAY_BY_NAME.get(way_name),
        "email": signed_in.account.email,
        "typed": typed or Fields({}),
        "errors": {} if wrong is None else {wrong.field: wrong.sentence},
    }
    return Template(
        "notifications/add.html", context=context, status_code=200 if wrong is None else 400
    )


async def _printer_form(
    signed_in: SignedIn,
    notifications: Notifications,
    printer_id: str,
    *,
    wrong: WrongField | None = None,
) -> Template:
    chosen = await notifications.chosen(signed_in.account.account_id)
    own = chosen.settings.of_printers.get(printer_id)
    context = {
        "printer": _own_printer(chosen.printers, printer_id),
        "has_own": own is not None,
        "choices": _choices(chosen.settings.events if own is None else own),
        "errors": {} if wrong is None else {wrong.field: wrong.sentence},
    }
    return Template(
        "notifications/printer.html", context=context, status_code=200 if wrong is None else 400
    )


def _own_printer(printers: Sequence[Printer], printer_id: str) -> Printer:
    for printer in printers:
        if printer.printer_id == printer_id:
            return printer
    raise NotFoundException("There is no such printer in your account.")


async def _target(
    signed_in: SignedIn, notifications: Notifications, target_id: str
) -> NotifyTarget:
    target = await notifications.target(signed_in.account.account_id, target_id)
    if target is None:
        raise NotFoundException("There is no such place")
    return target


def _choices(chosen: Events) -> list[tuple[str, str, bool]]:
    """Each box: its field's name, its words, and whether it is ticked."""
    return [(f"{_PREFIX}{kind.value}", text, kind in chosen) for kind, text in CHOICES]


def _ticked(fields: Fields) -> list[str]:
    return [name.removeprefix(_PREFIX) for name in fields.values if name.startswith(_PREFIX)]


def _back(said: str) -> Redirect:
    return Redirect(f"{PAGE}?said={said}", status_code=303)


NOTIFICATION_PAGES = Router(
    "/",
    route_handlers=[
        *(overview, choose_events, choose_quiet),
        *(ask_for_place, add, test, ask_to_remove, remove),
        *(printer_page, choose_for_printer),
    ],
    dependencies={
        "fields": Provide(provide_fields),
        "notifications": Provide(provide_notifications),
    },
    include_in_schema=False,
    opt=dict(FORM),
    request_max_body_size=LARGEST_FORM,
)
