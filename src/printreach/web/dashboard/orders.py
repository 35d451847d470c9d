"""Forms that control a printer. They need no scripts; irreversible ones ask for confirmation."""

from math import isfinite, nan
from typing import Any, Final

from litestar import MediaType, Response, Router, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import ValidationException
from litestar.response import Redirect, Template

from printreach.contract.commands import Axis, Extrude, MoveAxis, Pause, SetLight, SetTemp
from printreach.contract.status import StatusResult
from printreach.contract.unset import UNSET, UnsetType
from printreach.hub.dashboard import Dashboard
from printreach.hub.printers.own import SeenPrinter
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers import commands as rules
from printreach.rules.printers.commands import DEFAULT_LIMITS, Action
from printreach.web.accounts.forms import Fields, provide_fields
from printreach.web.dashboard.dashboard import (
    Order,
    give_order,
    or_404,
    provide_printer_id,
    provide_seen,
    shows,
)
from printreach.web.dashboard.printer_view import control_template, view_of
from printreach.web.security import FORM
from printreach.web.signed_in import SignedIn
from printreach.web.wording import degrees, target_range

_SAFE_C: Final = 0.0
"""Turning off needs no confirmation."""


@post("/printers/{printer_id:str}/pause", media_type=MediaType.HTML)
async def pause(
    owned_id: NamedDependency[str],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Pause the print at once, without confirmation, since nothing is lost."""
    order = Order(
        command="/pause",
        back=_back(owned_id, fields),
        flash="pause",
        arguments=Pause(),
        shows_effect=shows(Action.PAUSE),
    )
    return await give_order(dashboard, signed_in, owned_id, order)


@post("/printers/{printer_id:str}/resume", media_type=MediaType.HTML)
async def resume(
    owned_id: NamedDependency[str],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Resume the print."""
    back = _back(owned_id, fields)
    order = Order(command="/resume", back=back, flash="resume", shows_effect=shows(Action.RESUME))
    return await give_order(dashboard, signed_in, owned_id, order)


@get("/printers/{printer_id:str}/stop", media_type=MediaType.HTML)
async def ask_to_stop(
    owned_id: NamedDependency[str],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Template:
    """Ask before a print is lost; the printer is asked first, for a print may just have begun."""
    printer = OwnedPrinter(owned_id, signed_in.account.account_id)
    seen = or_404(await dashboard.printers.ask_now(printer))
    view = view_of(seen, dashboard.clock.now())
    return Template("dashboard/stop.html", context={"view": view})


@post("/printers/{printer_id:str}/stop", media_type=MediaType.HTML)
async def stop(
    owned_id: NamedDependency[str],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Cancel the print, even while remote control is locked."""
    back = _back(owned_id, fields)
    order = Order(
        command="/cancel",
        back=back,
        flash="stop",
        despite_lock=True,
        shows_effect=shows(Action.CANCEL),
    )
    return await give_order(dashboard, signed_in, owned_id, order)


@post("/printers/{printer_id:str}/heat", media_type=MediaType.HTML)
async def heat(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Set one heater; ask first, unless it is to be switched off."""
    printer_id, name = seen.printer.printer_id, _heater(fields)
    view = view_of(seen, dashboard.clock.now())
    heater = next((one for one in view.heaters if one.name == name), None)
    celsius = _number(fields, name)
    order = _temperature(name, celsius)
    problem = rules.set_temp_problem(order)
    if problem is not None or not isfinite(celsius):
        # The page's own words: the problem is told in those of the interface for programs.
        most = "0 to what it can take" if heater is None else target_range(heater.maximum)
        errors = {name: f"Enter a temperature in °C, {most}."}
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
    given = Order(
        command="/set-temp",
        back=f"/printers/{printer_id}/control",
        flash="heat",
        arguments=order,
        shows_effect=lambda status: _target(status, name) == celsius,
    )
    return await give_order(dashboard, signed_in, printer_id, given)


@get(
    [f"/printers/{{printer_id:str}}/{name}" for name in ("heat", "move", "home", "extrude")],
    media_type=MediaType.HTML,
)
async def back_to_control(owned_id: NamedDependency[str]) -> Redirect:
    """Lead a browser that loads the address of a form to the page with that form."""
    return Redirect(f"/printers/{owned_id}/control", status_code=303)


@post("/printers/{printer_id:str}/move", media_type=MediaType.HTML)
async def move(
    owned_id: NamedDependency[str],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Move one axis, which the button's value names: "X-10"."""
    axis, distance = fields["step"][:1], fields["step"][1:]
    if axis not in list(Axis):
        raise ValidationException("There is no such axis")
    order = MoveAxis(axis=Axis(axis), distance_mm=_step_mm(distance))
    _check(rules.move_problem(order))
    return await _control(dashboard, signed_in, owned_id, "/move-axis", "move", order)


@post("/printers/{printer_id:str}/home", media_type=MediaType.HTML)
async def home(
    owned_id: NamedDependency[str],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Home all axes."""
    return await _control(dashboard, signed_in, owned_id, "/home", "home", None)


@post("/printers/{printer_id:str}/extrude", media_type=MediaType.HTML)
async def extrude(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Extrude filament from the first tool, or retract it."""
    sign = -1.0 if fields["way"] == "back" else 1.0
    length_mm = _number(fields, "length")
    order = Extrude(extruder=0, distance_mm=sign * length_mm)
    if not isfinite(length_mm) or length_mm <= 0 or rules.extrude_problem(order) is not None:
        view = view_of(seen, dashboard.clock.now())
        errors = {"length": f"Enter a length of up to {DEFAULT_LIMITS.extrude_mm:g} mm."}
        return control_template(view, typed={"length": fields["length"]}, errors=errors)
    printer_id = seen.printer.printer_id
    return await _control(dashboard, signed_in, printer_id, "/extrude", "extrude", order)


@post("/printers/{printer_id:str}/light", media_type=MediaType.HTML)
async def light(
    owned_id: NamedDependency[str],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> Response[Any]:
    """Switch a light."""
    order = SetLight(name=fields["name"], on=fields["on"] == "yes")
    given = Order(
        command="/set-light",
        back=_back(owned_id, fields),
        flash="light",
        arguments=order,
        shows_effect=lambda status: _is_on(status, order.name) == order.on,
    )
    return await give_order(dashboard, signed_in, owned_id, given)


# --- helpers --------------------------------------------------------------------------------------


async def _control(
    dashboard: Dashboard,
    signed_in: SignedIn,
    printer_id: str,
    command: str,
    flash: str,
    arguments: object,
) -> Response[Any]:
    back = f"/printers/{printer_id}/control"
    order = Order(command=command, back=back, flash=flash, arguments=arguments)
    return await give_order(dashboard, signed_in, printer_id, order)


def _back(printer_id: str, fields: Fields) -> str:
    """Return the page of the form, which the form names by a word, never by an address."""
    return {
        "list": "/printers",
        "control": f"/printers/{printer_id}/control",
    }.get(fields["back"], f"/printers/{printer_id}")


def _heater(fields: Fields) -> str:
    named = [name for name in ("hotend", "bed", "chamber") if fields[name].strip()]
    if len(named) != 1:
        raise ValidationException("Set one temperature at a time")
    return named[0]


def _step_mm(text: str) -> float:
    """Return the distance that a button says. Raises ValidationException for any other text."""
    try:
        return float(text)
    except ValueError:
        raise ValidationException("There is no such step") from None


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
    return any(one.on for one in status.job_status.lights or () if one.name == light)


def _number(fields: Fields, name: str) -> float:
    """Return the number in a field; nan if there is none."""
    try:
        return float(fields[name].strip().replace(",", "."))
    except ValueError:
        return nan


def _check(problem: str | None) -> None:
    if problem is not None:
        raise ValidationException(problem)


ORDERS = Router(
    "/",
    route_handlers=[
        pause,
        resume,
        ask_to_stop,
        stop,
        heat,
        move,
        home,
        extrude,
        light,
        back_to_control,
    ],
    dependencies={
        "fields": Provide(provide_fields),
        "owned_id": Provide(provide_printer_id),
        "seen": Provide(provide_seen),
    },
    opt=dict(FORM),
)
