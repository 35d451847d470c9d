"""The page with a printer's controls, as it is, or with what is wrong with a number in it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from litestar.response import Template

from printreach.web.dashboard.printer_view import PrinterView

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_FAULT_STATUS: Final = 400


def control_template(
    view: PrinterView,
    *,
    flash_message: str = "",
    typed: Mapping[str, str] = _NOTHING,
    errors: Mapping[str, str] = _NOTHING,
) -> Template:
    """Draw the page. typed, errors: what was typed and what is wrong, by the field's name."""
    context = {
        "view": view,
        "flash_message": flash_message,
        "here": "control",
        "typed": typed,
        "errors": errors,
    }
    status = _FAULT_STATUS if errors else 200
    return Template("dashboard/control.html", context=context, status_code=status)
