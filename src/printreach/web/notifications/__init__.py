"""Pages about notifications, and browsers as their destinations.

A browser is added by a script and named by a form. The buttons of its notifications send a token,
which stands for all that the press may do. So a service worker needs no cookie, and no page has to
be open.
"""

from typing import Any, Final

import msgspec
from litestar import MediaType, Request, Response, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Template

from printreach.contract.codec import BAD_JSON
from printreach.hub.denied import Denied
from printreach.hub.notifications import WrongField
from printreach.hub.tries import LINK_BY_ADDRESS
from printreach.languages import N_, translate
from printreach.rules.notifications import Destination
from printreach.rules.notifications.channels import PUSH
from printreach.rules.notifications.push import LONGEST_NAME
from printreach.rules.rate_limits import TooSoon
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.notifications.pages import (
    NOTIFICATION_ROUTES,
    PAGE,
    STOP_PAGES,
    NotificationPages,
    provide_pages,
)
from printreach.web.problems import Problem
from printreach.web.routing import DeclaredRouter
from printreach.web.security import FORM, KEYED
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, raise_if_too_soon, too_many, visitor_of

_DEVICES: Final = PAGE + "/devices"
_NAME: Final = PAGE + "/{destination_id:str}/name"
_LARGEST_PRESS: Final = 1024


class Added(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer to a browser that was added."""

    destination_id: str


class Press(msgspec.Struct, frozen=True):
    """A press of a notification's button, as the service worker sends it."""

    token: str


class Pressed(msgspec.Struct, frozen=True):
    """What the notification shows after it."""

    title: str
    text: str


@post(_DEVICES)
async def add_device(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Add the browser that asks."""
    devices = signed_in.services.devices
    added = await devices.add(signed_in.session, fields["subscription"])
    if isinstance(added, TooSoon):
        raise too_many(added)
    return _answer(added, ERROR_STATUS)


@post(_DEVICES + "/renew", status_code=200)
async def renew_device(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Have a browser that was added end with this session; 404 where it is not on the list."""
    devices = signed_in.services.devices
    return _answer(await devices.renew(signed_in.session, fields["subscription"]), 404)


@get(_NAME, media_type=MediaType.HTML)
async def ask_for_name(
    destination_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Show the form with a browser's name."""
    return _name_form(await _device(pages, destination_id))


@post(_NAME, media_type=MediaType.HTML)
async def rename_device(
    destination_id: FromPath[str],
    fields: NamedDependency[Fields],
    pages: NamedDependency[NotificationPages],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Name a browser."""
    device = await _device(pages, destination_id)
    refused = await services.devices.rename(pages.account_id, destination_id, fields["name"])
    match refused:
        case WrongField():
            return _name_form(device, fields["name"], refused)
        case Denied():
            raise NotFoundException(refused.sentence)
        case None:
            return redirect_with_flash(PAGE, "saved")


DEVICE_ROUTES: Final = [add_device, renew_device, ask_for_name, rename_device]


@post(PAGE + "/act", status_code=200)
async def press(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[Any]:
    """Do what a button of a notification stands for."""
    address = visitor_of(request).address
    raise_if_too_soon(services.caller_tries.take_by_address(LINK_BY_ADDRESS, address))
    try:
        pressed = msgspec.json.decode(await request.body(), type=Press)
    except BAD_JSON:
        return Response(Problem(status=400, error="There is no token in it"), status_code=400)
    result = await services.notification_acts.perform(pressed.token)
    return Response(
        Pressed(title=result.title, text=result.text), status_code=200 if result.is_done else 409
    )


ACTS: Final = DeclaredRouter(
    "/",
    route_handlers=[press],
    include_in_schema=False,
    opt=dict(KEYED),
    request_max_body_size=_LARGEST_PRESS,
)


def _answer(outcome: Destination | Denied, refused_status: int) -> Response[Any]:
    if isinstance(outcome, Denied):
        problem = Problem(status=refused_status, error=translate(outcome.sentence))
        return Response(problem, status_code=refused_status)
    return Response(Added(outcome.destination_id))


async def _device(pages: NotificationPages, destination_id: str) -> Destination:
    """Return a browser of this account. Raises NotFoundException for any other place."""
    destination = await pages.destination(destination_id)
    if destination.channel != PUSH:
        raise NotFoundException(N_("There is no such place"))
    return destination


def _name_form(
    device: Destination, typed: str | None = None, wrong: WrongField | None = None
) -> Template:
    return Template(
        "notifications/name.html",
        context={
            "device": device,
            "name": device.label if typed is None else typed[:LONGEST_NAME],
            "longest": LONGEST_NAME,
            "errors": {} if wrong is None else {wrong.field: wrong.sentence},
        },
        status_code=200 if wrong is None else ERROR_STATUS,
    )


NOTIFICATION_PAGES = [
    *(STOP_PAGES, ACTS),
    DeclaredRouter(
        "/",
        route_handlers=[*NOTIFICATION_ROUTES, *DEVICE_ROUTES],
        dependencies={"pages": Provide(provide_pages)},
        include_in_schema=False,
        opt=dict(FORM),
    ),
]
