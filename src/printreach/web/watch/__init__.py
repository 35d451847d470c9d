"""The failure watch of one's own printer: settings, pictures, and the owner's judgements."""

from collections.abc import Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException, ValidationException
from litestar.params import FromQuery, QueryParameter
from litestar.response import Redirect, Template

from printreach.contract.status import WebcamEntry
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_, _, translate
from printreach.rules.detection.detector import NO_CAMERA
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.cameras import pose_at
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.printers.cards import camera_label
from printreach.web.printers.view import PrinterView, view_of
from printreach.web.problems import or_404
from printreach.web.security import SANDBOX
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn
from printreach.web.watch.form import (
    LEVEL_WORDS,
    WatchForm,
    form_of,
    form_sent,
    format_pose,
    parse_settings,
)
from printreach.web.watch.view import gives_pictures, parse_time, why_off

LONGEST_PRINT_ID: Final = 64


@get("/printers/{printer_id:str}/detector", media_type=MediaType.HTML)
async def detector_page(
    seen: NamedDependency[SeenPrinter], signed_in: NamedDependency[SignedIn]
) -> Template:
    """Show the settings, and the pictures stored with judgements."""
    return await _page(seen, signed_in)


@post("/printers/{printer_id:str}/detector", media_type=MediaType.HTML)
async def change_detector(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Change the settings."""
    chosen = parse_settings(fields, None if seen.reading.status is None else len(_cameras(seen)))
    if isinstance(chosen, dict):
        return await _page(seen, signed_in, form=form_sent(fields), errors=chosen)
    printer_id = seen.printer.printer_id
    or_404(await signed_in.services.watch_choices.change(signed_in.account_id, printer_id, chosen))
    word = (
        "detector"
        if signed_in.services.watched_prints.why_off() is None
        else "detector-not-running"
    )
    return redirect_with_flash(f"/printers/{printer_id}/detector", word)


@post("/printers/{printer_id:str}/detector/print", media_type=MediaType.HTML)
async def leave_print_alone(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Redirect:
    """Exclude the current print from the watch, or watch it again."""
    account_id, print_id = owned.account_id, fields["print_id"]
    if not 0 < len(print_id) <= LONGEST_PRINT_ID:
        raise ValidationException(N_("Say which print"))
    is_off = fields["watch"] == "off"
    left_alone = print_id if is_off else ""
    or_404(await services.watch_choices.leave_alone(account_id, owned.printer_id, left_alone))
    return _back(owned.printer_id, fields, "detector-off" if is_off else "detector-on")


@post("/printers/{printer_id:str}/detector/judgement", media_type=MediaType.HTML)
async def judge(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Redirect:
    """Store the owner's judgement of an alarm, or undo it."""
    choices, account_id, print_id = services.watch_choices, owned.account_id, fields["print_id"]
    if fields["was_failure"] == "undo":
        or_404(await choices.undo_judgement(account_id, owned.printer_id, print_id))
        return _back(owned.printer_id, fields, "judgement-undone")
    if fields["was_failure"] not in ("yes", "no"):
        raise ValidationException(N_("Say whether it was right"))
    was_failure = fields["was_failure"] == "yes"
    or_404(await choices.judge(account_id, owned.printer_id, print_id, was_failure=was_failure))
    return _back(owned.printer_id, fields, "judged")


@post("/printers/{printer_id:str}/detector/forget", media_type=MediaType.HTML)
async def forget_pictures(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Redirect:
    """Delete the picture stored with one judgement, or with each of them."""
    print_id = None if fields["which"] == "all" else fields["print_id"]
    account_id = owned.account_id
    or_404(await services.watch_choices.forget_pictures(account_id, owned.printer_id, print_id))
    return redirect_with_flash(f"/printers/{owned.printer_id}/detector", "pictures")


@post("/printers/{printer_id:str}/detector/learnt", media_type=MediaType.HTML)
async def forget_learnt(
    owned: NamedDependency[OwnedPrinter], services: NamedDependency[Services]
) -> Redirect:
    """Forget what the camera has learnt."""
    or_404(await services.watch_choices.forget_learnt(owned.account_id, owned.printer_id))
    return redirect_with_flash(f"/printers/{owned.printer_id}/detector", "learnt")


@get("/printers/{printer_id:str}/detector/picture")
async def seen_picture(
    owned: NamedDependency[OwnedPrinter],
    services: NamedDependency[Services],
    print_id: Annotated[str, QueryParameter(name="print")] = "",
    at: FromQuery[str] = "",
) -> Response[bytes]:
    """Return the picture of a look."""
    when, watched = parse_time(at), services.watched_prints
    if when is None:
        raise _no_picture()
    return _picture(await watched.picture(owned.account_id, owned.printer_id, print_id, when))


@get("/printers/{printer_id:str}/detector/judged")
async def judged_picture(
    owned: NamedDependency[OwnedPrinter],
    services: NamedDependency[Services],
    print_id: Annotated[str, QueryParameter(name="print")] = "",
) -> Response[bytes]:
    """Return the picture stored with a judgement."""
    watched = services.watched_prints
    return _picture(await watched.judged_picture(owned.account_id, owned.printer_id, print_id))


# --- helpers --------------------------------------------------------------------------------------


async def _page(
    seen: SeenPrinter,
    signed_in: SignedIn,
    *,
    form: WatchForm | None = None,
    errors: dict[str, str] | None = None,
) -> Template:
    services, printer_id = signed_in.services, seen.printer.printer_id
    watch = or_404(await services.watched_prints.of_printer(signed_in.account_id, printer_id))
    view, cameras = view_of(seen, services.clock.now()), _cameras(seen)
    kept = [judgement for judgement in watch.judged if judgement.picture is not None]
    pose = pose_at(cameras, watch.settings.camera or 0)
    shown = form_of(watch.settings, pose) if form is None else form
    context = {
        "view": view,
        "here": "settings",
        "form": shown,
        "errors": errors or {},
        "levels": [(level, translate(words)) for level, words in LEVEL_WORDS],
        "cameras": _choices(cameras, watch.settings.camera),
        "picture": _latest(seen, view, watch.settings.camera or 0),
        "pose": format_pose(shown.pose),
        "masked": watch.settings.masked,
        "steps": watch.levels[0] - watch.settings.warning_level,
        "background": watch.background,
        "kept": kept,
        "poses": [pose_at(cameras, judgement.camera or 0) for judgement in kept],
        "answers": len(watch.judged),
        "print_id": _print_to_watch(view) if watch.off is None else "",
        "tells_nobody": watch.tells_nobody,
        "off": why_off(watch.off),
        "no_camera": _no_camera(seen, watch.settings.camera),
        "left_alone": watch.settings.off_for_print,
    }
    status = 400 if errors else 200
    return Template("dashboard/detector.html", context=context, status_code=status)


def _print_to_watch(view: PrinterView) -> str:
    """Return the id of the current print, which may be excluded; "" if there is none."""
    return view.print_id if view.card.can_stop else ""


def _cameras(seen: SeenPrinter) -> Sequence[WebcamEntry]:
    status = seen.reading.status
    return [] if status is None else status.list_webcams.webcams


def _no_camera(seen: SeenPrinter, chosen: int | None) -> str:
    """Say that there is no camera to look through; "" if there is one or it is unknown."""
    is_known = seen.reading.status is not None
    return NO_CAMERA if is_known and not gives_pictures(_cameras(seen), chosen) else ""


def _choices(cameras: Sequence[WebcamEntry], chosen: int | None) -> list[tuple[str, str]]:
    """Return the printer's cameras, plus the chosen one if it is missing now."""
    choices = [("", _("Default camera of the printer"))]
    choices += [(str(index), camera_label(camera)) for index, camera in enumerate(cameras)]
    if chosen is not None and chosen >= len(cameras):
        choices.append((str(chosen), _("Camera %(chosen)s, not available now", chosen=chosen + 1)))
    return choices


def _latest(seen: SeenPrinter, view: PrinterView, camera: int) -> str:
    """Return the address of a picture to draw masks on; "" if there is none."""
    base = f"/printers/{seen.printer.printer_id}/webcam"
    if view.is_here and gives_pictures(_cameras(seen), camera):
        return f"{base}/still?index={camera}"
    return f"{base}/last" if seen.pictured_at is not None and camera == 0 else ""


def _back(printer_id: str, fields: Fields, flash: str) -> Redirect:
    """Redirect to the page of the form, which the form names by a word, never by an address."""
    path, query = f"/printers/{printer_id}", {"said": flash}
    if fields["back"] == "print":
        path, query = f"{path}/history/print", {"id": fields["print_id"], **query}
    elif fields["back"] == "settings":
        path = f"{path}/detector"
    return Redirect(f"{path}?{urlencode(query)}", status_code=303)


def _picture(jpeg: bytes | None) -> Response[bytes]:
    if jpeg is None:
        raise _no_picture()
    return Response(jpeg, media_type="image/jpeg", headers=SANDBOX)


def _no_picture() -> NotFoundException:
    return NotFoundException(_("There is no such picture, or it is no longer kept"))


DETECTOR_PAGES = [
    *(detector_page, change_detector, leave_print_alone, judge, forget_pictures, seen_picture),
    *(judged_picture, forget_learnt),
]
