"""Forms that control a printer. They need no scripts; irreversible ones ask for confirmation."""

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from math import isfinite, nan
from types import MappingProxyType
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import ValidationException
from litestar.handlers import HTTPRouteHandler
from litestar.response import Redirect, Template

from printreach.contract.codec import encode
from printreach.contract.commands import Axis, Extrude, Home, MoveAxis, Pause, SetLight, SetTemp
from printreach.contract.errors import REMOTE_LOCKED
from printreach.contract.status import UNDER_WAY, State, StatusResult
from printreach.contract.unset import UNSET, UnsetType
from printreach.hub.printers.access import AdmittedPrinter
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_, _, punctuated, translate
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers import commands as rules
from printreach.rules.printers.commands import DEFAULT_LIMITS, HOTTER_AT_THE_PRINTER, Action
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.printers.presets import control_view
from printreach.web.printers.view import control_template, view_of
from printreach.web.problems import or_404
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn
from printreach.web.wording import degrees, target_range
from printreach.web.wording import heater as heater_label

_CONTROL_FORMS: Final = ("heat", "preset", "cool", "adjust", "move", "home", "extrude")
_OVER: Final = frozenset({State.COMPLETE, State.CANCELLED})
"""What was printed may still be on the plate."""
_HEATER_OF: Final = {"ToolC": "hotend", "BedC": "bed", "ChamberC": "chamber"}
_LOWERED_LIMIT: Final = re.compile(r"(ToolC|BedC|ChamberC) must be 0 to ([0-9.]+) degrees Celsius,")
"""How an agent words a limit that its owner has lowered: `rules.set_temp_problem`."""
_SAFE_C: Final = 0.0
"""Turning off needs no confirmation."""


_DONE: Final[Mapping[Action, Set[State]]] = MappingProxyType(
    {
        Action.PAUSE: frozenset({State.PAUSED}),
        Action.RESUME: frozenset({State.PRINTING}),  # before, it heats up again
        Action.CANCEL: frozenset(State) - UNDER_WAY,
        Action.START: UNDER_WAY,
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A command, and the page to redirect to after it. flash: the word of its flash message.

    shows_effect: whether a status shows what the command does, or that there is nothing to wait
    for. is_done: whether such a status says that it is done; the word ends in "-done" then.
    despite_lock: the owner's is allowed even while remote control is locked. subject: the file
    that it is about, for the printer's history.
    """

    command: str
    back: str
    flash: str
    arguments: object = None
    query: Mapping[str, str] = field(default_factory=dict)
    shows_effect: Callable[[StatusResult], bool] = lambda _: True
    is_done: Callable[[StatusResult], bool] = lambda _: False
    despite_lock: bool = False
    subject: str = ""


def _order_at_once(
    name: str, command: str, action: Action, *, arguments: object = None, despite_lock: bool = False
) -> HTTPRouteHandler:
    """Return the route of a form that changes the print's state. name: of its path and message."""

    @post(f"/printers/{{printer_id:str}}/{name}", media_type=MediaType.HTML)
    async def order_at_once(
        owned: NamedDependency[OwnedPrinter],
        fields: NamedDependency[Fields],
        signed_in: NamedDependency[SignedIn],
    ) -> Response[Any]:
        order = Order(
            command=command,
            back=_back(owned.printer_id, fields),
            flash=name,
            arguments=arguments,
            shows_effect=shows(action),
            is_done=is_done_by(action),
            despite_lock=despite_lock,
        )
        return await give_order(signed_in, owned, order)

    return order_at_once


@get("/printers/{printer_id:str}/stop", media_type=MediaType.HTML)
async def ask_to_stop(
    admitted: NamedDependency[AdmittedPrinter], services: NamedDependency[Services]
) -> Template:
    """Ask before a print is lost; the printer is asked first, for a print may just have begun."""
    seen = or_404(await services.own_printers.ask_now(admitted))
    view = view_of(seen, services.clock.now())
    return Template("dashboard/stop.html", context={"view": view})


@post("/printers/{printer_id:str}/heat", media_type=MediaType.HTML)
async def heat(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Set one heater; ask first, unless it is to be switched off."""
    printer_id, name = seen.printer.printer_id, _heater(fields)
    view = view_of(seen, signed_in.services.clock.now())
    heater = next((heater for heater in view.heaters if heater["name"] == name), None)
    celsius = _number(fields, name)
    target = _temperature(name, celsius)
    problem = rules.set_temp_problem(target)
    if problem is not None or not isfinite(celsius):
        # The page's own words: the problem is told in those of the interface for programs.
        most = _("0 to what it can take") if heater is None else target_range(heater["maximum"])
        words = [_("Enter a temperature in °C, %(most)s.", most=most)]
        if heater is not None and celsius > heater["maximum"]:
            words.append(translate(HOTTER_AT_THE_PRINTER))
        errors = {name: " ".join(words)}
        view = await control_view(seen, signed_in.services)
        return control_template(view, typed={name: fields[name]}, errors=errors)
    if celsius != _SAFE_C and fields["sure"] != "yes":
        context = {
            "view": view,
            "heater": heater,
            "name": name,
            "target": degrees(celsius),
            "fields": {name: f"{celsius:g}", "sure": "yes"},
        }
        return Template("dashboard/heat.html", context=context)
    order = Order(
        command="/set-temp",
        back=f"/printers/{printer_id}/control",
        flash="heat",
        arguments=target,
        shows_effect=lambda status: _target(status, name) == celsius,
        is_done=lambda _: True,
    )
    return await give_order(signed_in, seen.printer.owned, order)


@get(
    [f"/printers/{{printer_id:str}}/{name}" for name in _CONTROL_FORMS],
    media_type=MediaType.HTML,
)
async def back_to_control(owned: NamedDependency[OwnedPrinter]) -> Redirect:
    """Lead a browser that loads the address of a form to the page with that form."""
    return Redirect(f"/printers/{owned.printer_id}/control", status_code=303)


@post("/printers/{printer_id:str}/move", media_type=MediaType.HTML)
async def move(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Move one axis, which the button's value names: "X-10"."""
    axis, distance = fields["step"][:1], fields["step"][1:]
    if axis not in list(Axis):
        raise ValidationException(N_("There is no such axis"))
    order = MoveAxis(axis=Axis(axis), distance_mm=_step_mm(distance))
    _check(rules.move_problem(order))
    is_lift = order.axis is Axis.Z and order.distance_mm > 0
    if not is_lift and _asks_to_move(seen, fields):
        asked = _("Move %(axis)s by %(step)s mm?", axis=axis, step=distance)
        return _ask_to_move(seen, signed_in, asked, _("Move"), {"step": fields["step"]})
    return await _control(signed_in, seen.printer.owned, "/move-axis", "move", order)


@post("/printers/{printer_id:str}/home", media_type=MediaType.HTML)
async def home(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Home the axis that the button's value names, or all of them."""
    axis = fields["axis"]
    if axis and axis not in list(Axis):
        raise ValidationException(N_("There is no such axis"))
    order = Home(axes=[Axis(axis)]) if axis else None
    if _asks_to_move(seen, fields):
        asked = _("Home %(axis)s?", axis=axis) if axis else _("Home all axes?")
        yes = _("Home %(axis)s", axis=axis) if axis else _("Home all axes")
        return _ask_to_move(seen, signed_in, asked, yes, {"axis": axis} if axis else {})
    return await _control(signed_in, seen.printer.owned, "/home", "home", order)


@post("/printers/{printer_id:str}/extrude", media_type=MediaType.HTML)
async def extrude(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Extrude filament from the first tool, or retract it."""
    sign = -1.0 if fields["way"] == "back" else 1.0
    length_mm = _number(fields, "length")
    order = Extrude(extruder=0, distance_mm=sign * length_mm)
    if not isfinite(length_mm) or length_mm <= 0 or rules.extrude_problem(order) is not None:
        view = await control_view(seen, signed_in.services)
        errors = {
            "length": _(
                "Enter a length of up to %(extrude_mm)s mm.",
                extrude_mm=f"{DEFAULT_LIMITS.extrude_mm:g}",
            )
        }
        return control_template(view, typed={"length": fields["length"]}, errors=errors)
    return await _control(signed_in, seen.printer.owned, "/extrude", "extrude", order)


@post("/printers/{printer_id:str}/light", media_type=MediaType.HTML)
async def light(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Switch a light."""
    switch = SetLight(name=fields["name"], on=fields["on"] == "yes")
    order = Order(
        command="/set-light",
        back=_back(owned.printer_id, fields),
        flash="light",
        arguments=switch,
        shows_effect=lambda status: _is_on(status, switch.name) == switch.on,
        is_done=lambda _: True,
    )
    return await give_order(signed_in, owned, order)


async def give_order(signed_in: SignedIn, printer: OwnedPrinter, order: Order) -> Response[Any]:
    """Send the command to the printer and redirect, or show why the printer refused.

    What it accepts is noted with the person who gave it. Only the owner's orders pass a lock.
    """
    services, is_owner = signed_in.services, signed_in.account_id == printer.account_id
    arguments = b"" if order.arguments is None else encode(order.arguments)
    http, printers = services.printer_http, services.own_printers
    answer = await http.order(
        printer,
        order.command,
        order.query,
        arguments,
        despite_lock=order.despite_lock and is_owner,
    )
    if isinstance(answer, PrinterRefusal):
        return refused(answer, order.back, may_unlock=is_owner)
    person_id = signed_in.account_id
    await services.given_orders.note(person_id, printer, order.command, order.subject)
    status = await printers.wait_for_effect(printer, order.shows_effect)
    is_done = status is not None and order.is_done(status)
    return redirect_with_flash(order.back, f"{order.flash}-done" if is_done else order.flash)


def shows(action: Action) -> Callable[[StatusResult], bool]:
    """Return a test of whether a status shows what the action does."""
    return lambda status: rules.shows_effect(action, status.job_status.state)


def is_done_by(action: Action) -> Callable[[StatusResult], bool]:
    """Return a test of whether a status is what the action leads to, and not another end."""
    return lambda status: status.job_status.state in _DONE[action]


def refused(refusal: PrinterRefusal, back: str, *, may_unlock: bool = True) -> Template:
    """Render the page that says why the printer refused. may_unlock: the owner looks at it."""
    is_locked = may_unlock and refusal.sentence == REMOTE_LOCKED.meaning
    context = {
        "refusal": replace(refusal, sentence=_page_words(refusal.sentence)),
        "back": back,
        "is_locked": is_locked,
    }
    return Template("dashboard/refused.html", context=context, status_code=409)


# --- helpers --------------------------------------------------------------------------------------


def _asks_to_move(seen: SeenPrinter, fields: Fields) -> bool:
    """Whether a print may still be on the plate, and the person hasn't confirmed that it isn't."""
    status = seen.reading.status
    is_over = status is not None and status.job_status.state in _OVER
    return is_over and fields["sure"] != "yes"


def _page_words(sentence: str) -> str:
    """Return why a printer refused; a limit that its owner set in the agent in the page's words."""
    limit = _LOWERED_LIMIT.match(sentence)
    if limit is None:
        return sentence
    return _(
        "%(heater)s: at most %(maximum)s°. That is the limit in the agent's settings.",
        heater=heater_label(_HEATER_OF[limit[1]]),
        maximum=punctuated(limit[2]),
    )


def _ask_to_move(
    seen: SeenPrinter, signed_in: SignedIn, asked: str, yes: str, wanted: Mapping[str, str]
) -> Template:
    context = {
        "view": view_of(seen, signed_in.services.clock.now()),
        "asked": asked,
        "yes": yes,
        "action": "move" if "step" in wanted else "home",
        "fields": {**wanted, "sure": "yes"},
    }
    return Template("dashboard/move.html", context=context)


async def _control(
    signed_in: SignedIn, printer: OwnedPrinter, command: str, flash: str, arguments: object
) -> Response[Any]:
    back = f"/printers/{printer.printer_id}/control"
    order = Order(command=command, back=back, flash=flash, arguments=arguments)
    return await give_order(signed_in, printer, order)


def _back(printer_id: str, fields: Fields) -> str:
    """Return the page of the form, which the form names by a word, never by an address."""
    return {"list": "/printers", "control": f"/printers/{printer_id}/control"}.get(
        fields["back"], f"/printers/{printer_id}"
    )


def _heater(fields: Fields) -> str:
    named = [name for name in ("hotend", "bed", "chamber") if fields[name].strip()]
    if len(named) != 1:
        raise ValidationException(N_("Set one temperature at a time"))
    return named[0]


def _step_mm(text: str) -> float:
    """Return the distance that a button says. Raises ValidationException for any other text."""
    try:
        return float(text)
    except ValueError:
        raise ValidationException(N_("There is no such step")) from None


def _temperature(name: str, celsius: float) -> SetTemp:
    def target(of: str) -> float | UnsetType:
        return celsius if of == name else UNSET

    return SetTemp(bed_c=target("bed"), tool_c=target("hotend"), chamber_c=target("chamber"))


def _target(status: StatusResult, heater: str) -> float | UnsetType:
    temps = status.job_status.current_print.temps
    targets = {
        "hotend": temps.hotend_target,
        "bed": temps.bed_target,
        "chamber": temps.chamber_target,
    }
    return targets[heater]


def _is_on(status: StatusResult, light: str) -> bool:
    return any(switch.on for switch in status.job_status.lights or () if switch.name == light)


def _number(fields: Fields, name: str) -> float:
    """Return the number in a field; nan if there is none."""
    try:
        return float(fields[name].strip().replace(",", "."))
    except ValueError:
        return nan


def _check(problem: str | None) -> None:
    if problem is not None:
        raise ValidationException(problem)


ORDERS = [
    # Nothing is lost by a pause, so no page asks before it, and a lock does not prevent a stop.
    _order_at_once("pause", "/pause", Action.PAUSE, arguments=Pause()),
    _order_at_once("resume", "/resume", Action.RESUME),
    _order_at_once("stop", "/cancel", Action.CANCEL, despite_lock=True),
    *(ask_to_stop, heat, move, home, extrude, light, back_to_control),
]
