"""Pages of a printer's settings: linking, names, cameras, removal, and its own interface."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from litestar import MediaType, Response, get, post, route
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach import __version__
from printreach.contract.cameras import CameraChoice
from printreach.contract.status import WebcamEntry
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers.own import SeenPrinter
from printreach.hub.tries import LINK_CODE_BY_ADDRESS
from printreach.languages import N_
from printreach.rules.connections.credentials import parse_link_code
from printreach.rules.own_paths import HOME, parse_printer_path
from printreach.rules.printers import LOCK_TIME, OwnedPrinter, is_older_release
from printreach.rules.printers.cameras import (
    ROTATIONS,
    Pose,
    camera_key,
    choice_for,
    parse_camera_name,
    pose_of,
    reported,
)
from printreach.rules.rate_limits import TooSoon
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields, page
from printreach.web.printer_state import PrinterState
from printreach.web.printers.cards import Webcam, webcam_of
from printreach.web.printers.view import PrinterView, view_of
from printreach.web.problems import AnyRequest, or_404
from printreach.web.safe_methods import READ
from printreach.web.security import NO_REFERRER
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, visitor_of

_SETTINGS = "dashboard/settings.html"

_NO_NAME = N_("A camera's name has up to 60 characters, none of them invisible.")


@get("/printers/{printer_id:str}/settings", media_type=MediaType.HTML)
async def settings_page(
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services]
) -> Template:
    """Show the printer's settings."""
    return _settings(seen, services)


@post("/printers/{printer_id:str}/settings", media_type=MediaType.HTML)
async def rename(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Rename it."""
    printer_id = seen.printer.printer_id
    account_id = signed_in.account_id
    renamed = await signed_in.services.own_printers.rename(account_id, printer_id, fields["name"])
    if isinstance(renamed, Denied) and renamed.reason is Reason.INVALID:
        errors = {"name": renamed.sentence}
        return _settings(seen, signed_in.services, typed=fields["name"], errors=errors, status=400)
    or_404(renamed)
    return redirect_with_flash(f"/printers/{printer_id}/settings", "name")


@post("/printers/{printer_id:str}/cameras", media_type=MediaType.HTML)
async def set_up_cameras(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Set the names of its cameras, and how their pictures are turned and flipped."""
    printer_id, services = seen.printer.printer_id, signed_in.services
    chosen = parse_camera_fields(fields, seen)
    if isinstance(chosen, dict):
        return _settings(seen, services, cameras=fields, errors=chosen, status=400)
    stored = await services.own_printers.set_up_cameras(signed_in.account_id, printer_id, chosen)
    if isinstance(stored, Denied) and stored.reason is Reason.INVALID:
        errors = {"cameras": stored.sentence}
        return _settings(seen, services, cameras=fields, errors=errors, status=400)
    or_404(stored)
    return redirect_with_flash(f"/printers/{printer_id}/settings", "cameras")


@get("/printers/{printer_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(view: NamedDependency[PrinterView]) -> Template:
    """Ask before all its connections end."""
    return Template("dashboard/remove.html", context={"view": view})


@post("/printers/{printer_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    owned: NamedDependency[OwnedPrinter], services: NamedDependency[Services]
) -> Redirect:
    """Remove it from the account."""
    or_404(await services.printers.remove(owned.printer_id, account_id=owned.account_id))
    return redirect_with_flash("/printers", "removed")


@get("/printers/open", media_type=MediaType.HTML)
async def interface_at_port(
    signed_in: NamedDependency[SignedIn], port: FromQuery[int], at: FromQuery[str | None] = None
) -> Redirect:
    """Redirect from a tunnel port whose cookie has expired to the page that opens the printer
    again.
    """
    account_id = signed_in.account_id
    printer_id = await signed_in.services.own_connections.printer_at_port(account_id, port)
    path = "/printers" if printer_id is None else f"/printers/{printer_id}/open"
    printer_path = parse_printer_path(at)
    if printer_id is not None and printer_path != HOME:
        path += f"?at={quote(printer_path, safe='/')}"
    return Redirect(path, status_code=303)


@get("/printers/{printer_id:str}/open", media_type=MediaType.HTML)
async def ask_to_open_interface(
    view: NamedDependency[PrinterView], at: FromQuery[str | None] = None
) -> Template:
    """Offer the printer's own interface to a browser that was redirected here from its address.

    It takes a button and not a link that works at once, since a page of another site could lead a
    browser here. at: the path there that it came from.
    """
    context = {"view": view, "at": parse_printer_path(at)}
    return Template("dashboard/ask_to_open.html", context=context)


@post("/printers/{printer_id:str}/open", media_type=MediaType.HTML)
async def open_interface(
    view: NamedDependency[PrinterView],
    signed_in: NamedDependency[SignedIn],
    fields: NamedDependency[Fields],
) -> Template:
    """Lead to the printer's own interface, on a host of its own, by a single-use link.

    The page redirects by itself instead of an HTTP redirect, since our policy lets no form of ours
    end on another host.
    """
    link = await signed_in.services.connections.open_own(
        view.card.id,
        account_id=signed_in.account_id,
        session_id=signed_in.session_id,
        printer_path=parse_printer_path(fields["at"]),
    )
    if isinstance(link, Denied) and link.reason is Reason.NO_PORT_LEFT:
        context = {"view": view, "sentence": link.sentence}
        return Template("dashboard/no_port.html", context=context, status_code=409)
    link = or_404(link)
    return Template(
        "dashboard/open.html",
        context={"view": view, "link": link},
        headers=dict(NO_REFERRER),
    )


def _settings(
    seen: SeenPrinter,
    services: Services,
    *,
    typed: str | None = None,
    cameras: Fields | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> Template:
    off, view = services.watched_prints.why_off(), view_of(seen, services.clock.now())
    context = {
        "view": view,
        "cameras": camera_fields(seen, view.card.shown, cameras),
        "printer": seen.printer,
        "agent_is_old": is_older_release(seen.printer.agent_version, __version__),
        "here": "settings",
        "typed": seen.printer.name if typed is None else typed,
        "errors": errors or {},
        "off": off.value if off is not None else "",
    }
    return Template(_SETTINGS, context=context, status_code=status)


_LINK: Final = "account/link.html"
_LONGEST_TYPING: Final = 32
"""Longer input is not a typing mistake, and is not shown again."""
_NOT_A_CODE: Final = Denied(
    Reason.LINK_CODE_UNKNOWN,
    N_("That isn't a link code. It has 8 letters and digits, and looks like K7QF-4MXY."),
)


@route("/link", http_method=READ, media_type=MediaType.HTML)
async def link_page(
    signed_in: NamedDependency[SignedIn],
    code: FromQuery[str | None] = None,
) -> Response[Any]:
    """Ask for a code and a name. code: from the link that the agent shows.

    Whoever links their first printer may have this browser tell them of its prints.
    """
    services = signed_in.services
    is_first = not await services.own_printers.rows(signed_in.account_id)
    key = services.devices.public_key if is_first else ""
    if code is None:
        return page(_LINK, code="", name="", push_key=key)
    readable = parse_link_code(code)
    if readable is None:
        shown = _played_back(code)
        return page(_LINK, _NOT_A_CODE, "code", code=shown, name="", push_key=key)
    return page(_LINK, code=_in_fours(readable), name="", push_key=key)


@post("/link", media_type=MediaType.HTML)
async def link(
    request: AnyRequest, fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Link the printer whose agent shows the code to the account."""
    code, name = fields["code"], fields["name"]
    shown = {"code": _played_back(code), "name": name[:60], "push_key": ""}
    address = visitor_of(request).address
    refused = signed_in.services.caller_tries.take_by_address(LINK_CODE_BY_ADDRESS, address)
    if refused is not None:
        return page(_LINK, refused, "code", **shown)
    result = await signed_in.services.printers.link(code, signed_in.account.email, name)
    match result:
        case Denied(Reason.LINKING_LOCKED):
            return page(_LINK, TooSoon(LOCK_TIME), "code", **shown)
        case Denied():
            field = "name" if result.reason is Reason.INVALID else "code"
            return page(_LINK, result, field, **shown)
        case _:
            return redirect_with_flash(f"/printers/{result.printer_id}", "linked")


def _played_back(typed: str) -> str:
    return typed if len(typed) <= _LONGEST_TYPING else ""


def _in_fours(code: str) -> str:
    return f"{code[:4]}-{code[4:]}"


SETTINGS_PAGES = [
    *(link_page, link, settings_page, rename, set_up_cameras, ask_to_remove, remove),
    *(interface_at_port, ask_to_open_interface, open_interface),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class CameraFields:
    """The fields of one camera. prefix: of their names. key: tells which camera they are about.

    reported_name: by which the platform lists it. still: its picture, as it is shown now.
    """

    prefix: str
    key: str
    name: str
    reported_name: str
    pose: Pose
    still: Webcam


def cameras_of(seen: SeenPrinter) -> Sequence[WebcamEntry]:
    status = seen.reading.status
    return status.list_webcams.webcams if status is not None else []


def camera_fields(
    seen: SeenPrinter, state: PrinterState, typed: Fields | None = None
) -> list[CameraFields]:
    """Return the fields of each camera. typed: the names that were sent, if they can't be used."""
    return [
        CameraFields(
            prefix=_prefix(index),
            key=camera_key(camera),
            name=camera.name if typed is None else typed[f"{_prefix(index)}name"],
            reported_name=reported(camera).name,
            pose=pose_of(camera),
            still=webcam_of(seen, index, state, still=True),
        )
        for index, camera in enumerate(cameras_of(seen))
    ]


def parse_camera_fields(fields: Fields, seen: SeenPrinter) -> list[CameraChoice] | dict[str, str]:
    """Return the choices, or what is wrong by the fields' names.

    A camera that the form does not name keeps its choice.
    """
    choices, errors = list[CameraChoice](), dict[str, str]()
    for index, camera in enumerate(cameras_of(seen)):
        prefix = _prefix(index)
        if fields[f"{prefix}key"] != camera_key(camera):
            continue
        name = parse_camera_name(fields[f"{prefix}name"])
        if name is None:
            errors[f"{prefix}name"] = _NO_NAME
        else:
            choices.append(choice_for(camera, name, _parse_pose(fields, prefix)))
    return errors or choices


def _parse_pose(fields: Fields, prefix: str) -> Pose:
    turned = fields[f"{prefix}rotation"]
    return Pose(
        flip_h=fields[f"{prefix}flip-h"] == "yes",
        flip_v=fields[f"{prefix}flip-v"] == "yes",
        rotation=next((one for one in ROTATIONS if str(one) == turned), 0),
    )


def _prefix(index: int) -> str:
    return f"camera-{index}-"
