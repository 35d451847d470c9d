"""Forms about a printer's machine: presets, adjustments, an emergency stop and the restart."""

from collections.abc import Callable
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import ValidationException
from litestar.response import Template
from msgspec import structs

from printreach.contract.commands import Adjust, SetTemp, SpeedLevel
from printreach.contract.status import State, StatusResult
from printreach.contract.temperatures import Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.hub.printers.access import AdmittedPrinter
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_, _
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers import commands as rules
from printreach.rules.printers.presets import order_of
from printreach.web.forms import Fields
from printreach.web.printers.orders import Order, give_order
from printreach.web.printers.presets import chosen_preset, control_view, question_of
from printreach.web.printers.view import ADJUSTED, control_template, view_of
from printreach.web.problems import or_404
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

_WHOLE: Final = 3
"""Digits of a percentage."""


@post("/printers/{printer_id:str}/preset", media_type=MediaType.HTML)
async def heat_to_preset(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Heat for a material, once the person has confirmed it."""
    view = await control_view(seen, signed_in.services)
    chosen = chosen_preset(view.presets, fields)
    if chosen is None:
        raise ValidationException(N_("There is no such preset"))
    preset = chosen.preset
    if fields["sure"] != chosen.targets:
        context = {"view": view, "chosen": chosen, "question": question_of(preset)}
        return Template("dashboard/preset.html", context=context)
    order = _order(
        seen.printer.owned,
        "/set-temp",
        "heat",
        order_of(preset),
        lambda status: _shows(status, preset),
    )
    return await give_order(signed_in, seen.printer.owned, order)


@post("/printers/{printer_id:str}/cool", media_type=MediaType.HTML)
async def cool_down(
    seen: NamedDependency[SeenPrinter], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Switch off every heater that is on; the hotend's in any case."""
    view = view_of(seen, signed_in.services.clock.now())
    heated = {heater["name"] for heater in view.heaters if heater["target"]}
    order = _order(
        seen.printer.owned,
        "/set-temp",
        "cool",
        SetTemp(
            tool_c=0.0,
            bed_c=0.0 if "bed" in heated else UNSET,
            chamber_c=0.0 if "chamber" in heated else UNSET,
        ),
        lambda status: not status.job_status.current_print.temps.hotend_target,
    )
    return await give_order(signed_in, seen.printer.owned, order)


@post("/printers/{printer_id:str}/adjust", media_type=MediaType.HTML)
async def adjust(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Set what the field `what` names, choose a level of speed, or move the Z offset by a step."""
    name = fields["what"]
    if fields["level"]:
        wanted: Adjust | None = _level(fields["level"])
    else:
        wanted = _percent(name, fields[name]) if name else _step(fields["z"])
    if wanted is None:
        field = ADJUSTED[name]
        errors = {
            name: _(
                "Enter a whole number, %(least)s to %(most)s.", least=field.least, most=field.most
            )
        }
        view = await control_view(seen, signed_in.services)
        return control_template(view, typed={name: fields[name]}, errors=errors)
    order = _order(seen.printer.owned, "/adjust", "adjust", wanted, _adjusted(name, wanted))
    return await give_order(signed_in, seen.printer.owned, order)


@get("/printers/{printer_id:str}/emergency-stop", media_type=MediaType.HTML)
async def ask_to_stop_in_emergency(
    admitted: NamedDependency[AdmittedPrinter], services: NamedDependency[Services]
) -> Template:
    """Ask once, for browsers without scripts."""
    seen = or_404(await services.own_printers.see(admitted, ask=False))
    view = view_of(seen, services.clock.now())
    return Template("dashboard/emergency_stop.html", context={"view": view})


@post("/printers/{printer_id:str}/emergency-stop", media_type=MediaType.HTML)
async def stop_in_emergency(
    owned: NamedDependency[OwnedPrinter], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Stop the printer at once. A lock of remote control doesn't keep its owner from it."""
    order = Order(
        command="/emergency-stop",
        back=f"/printers/{owned.printer_id}",
        flash="emergency-stop",
        shows_effect=_has_failed,
        is_done=_has_failed,
        despite_lock=True,
    )
    return await give_order(signed_in, owned, order)


@post("/printers/{printer_id:str}/restart-firmware", media_type=MediaType.HTML)
async def restart_firmware(
    owned: NamedDependency[OwnedPrinter], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Bring back a printer that has stopped in an emergency."""
    order = Order(
        command="/restart-firmware",
        back=f"/printers/{owned.printer_id}",
        flash="restart-firmware",
        shows_effect=lambda status: not _has_failed(status),
        is_done=lambda _: True,
    )
    return await give_order(signed_in, owned, order)


# --- helpers --------------------------------------------------------------------------------------


def _order(
    printer: OwnedPrinter,
    command: str,
    flash: str,
    arguments: object,
    shows_effect: Callable[[StatusResult], bool],
) -> Order:
    return Order(
        command=command,
        back=f"/printers/{printer.printer_id}/control",
        flash=flash,
        arguments=arguments,
        shows_effect=shows_effect,
        is_done=lambda _: True,
    )


def _shows(status: StatusResult, preset: Preset) -> bool:
    temps = status.job_status.current_print.temps
    pairs = ((preset.tool_c, temps.hotend_target), (preset.bed_c, temps.bed_target))
    return all(wanted in (UNSET, shown) for wanted, shown in pairs)


def _has_failed(status: StatusResult) -> bool:
    return status.job_status.state is State.ERROR


def _percent(name: str, typed: str) -> Adjust | None:
    """Return the order; None for what is no percentage within the range."""
    if name not in ADJUSTED:
        raise ValidationException(N_("There is nothing of that name to adjust"))
    text = typed.strip().removesuffix("%").rstrip()
    if not (text.isascii() and text.isdigit() and len(text) <= _WHOLE):
        return None
    wanted = structs.replace(Adjust(), **{ADJUSTED[name].argument: int(text)})
    return None if rules.adjust_problem(wanted) is not None else wanted


def _level(text: str) -> Adjust:
    """Return the order of a button that names a level of speed."""
    try:
        return Adjust(speed_level=SpeedLevel(text))
    except ValueError:
        raise ValidationException("There is no such level") from None


def _step(text: str) -> Adjust:
    """Return the order of a button that says a step of the Z offset."""
    try:
        wanted = Adjust(z_offset_by_mm=float(text))
    except ValueError:
        raise ValidationException(N_("There is no such step")) from None
    if (problem := rules.adjust_problem(wanted)) is not None:
        raise ValidationException(problem)
    return wanted


def _adjusted(name: str, wanted: Adjust) -> Callable[[StatusResult], bool]:
    """Return a test of whether a status shows it. A platform that doesn't tell isn't waited for."""

    def is_shown(status: StatusResult) -> bool:
        now = status.job_status.adjustments
        if isinstance(now, UnsetType):
            return True
        if not isinstance(wanted.speed_level, UnsetType):
            return now.speed_level in (UNSET, wanted.speed_level)
        if not name:
            return True
        argument = ADJUSTED[name].argument
        return getattr(now, argument) in (UNSET, getattr(wanted, argument))

    return is_shown


MACHINE_ORDERS: Final = [
    *(heat_to_preset, cool_down, adjust),
    *(ask_to_stop_in_emergency, stop_in_emergency, restart_firmware),
]
