"""The form of an app: its values, and the draft parsed from them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from printreach.rules.apps import App
from printreach.rules.apps.registration import AppDraft
from printreach.web.forms import Fields

_FIELDS: Mapping[str, str] = {
    "app_id": "app-id",
    "name": "name",
    "return_prefixes": "returns",
    "logo_url": "logo",
    "max_connections": "most",
    "max_connections_a_printer": "most-a-printer",
}
"""From a draft's field to the form's field."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedApp:
    """The values of the form. returns: one address per line."""

    app_id: str = ""
    name: str = ""
    returns: str = ""
    returns_to_lan: bool = False
    logo: str = ""
    takes_other_logos: bool = True
    most: str = ""
    most_a_printer: str = ""


def typed_by(fields: Fields) -> TypedApp:
    """Return the values that were sent."""
    return TypedApp(
        app_id=fields["app-id"].strip(),
        name=" ".join(fields["name"].split()),
        returns=fields["returns"].strip(),
        returns_to_lan=fields["lan"] == "yes",
        logo=fields["logo"].strip(),
        takes_other_logos=fields["other-logos"] == "yes",
        most=fields["most"].strip(),
        most_a_printer=fields["most-a-printer"].strip(),
    )


def typed_of(app: App) -> TypedApp:
    """Return the values of a stored app."""
    return TypedApp(
        app_id=app.app_id,
        name=app.name,
        returns="\n".join(app.return_prefixes),
        returns_to_lan=app.returns_to_lan,
        logo=app.logo_url or "",
        takes_other_logos=app.takes_other_logos,
        most=_text(app.max_connections),
        most_a_printer=_text(app.max_connections_a_printer),
    )


def draft_of(typed: TypedApp) -> AppDraft:
    """Parse a draft. An invalid number becomes one that is out of range."""
    return AppDraft(
        app_id=typed.app_id,
        name=typed.name,
        return_prefixes=tuple(typed.returns.split()),
        returns_to_lan=typed.returns_to_lan,
        logo_url=typed.logo or None,
        takes_other_logos=typed.takes_other_logos,
        max_connections=_number(typed.most),
        max_connections_a_printer=_number(typed.most_a_printer),
    )


def errors_at_fields(errors: Mapping[str, str]) -> dict[str, str]:
    """Return the errors by the form's field names."""
    return {_FIELDS[name]: sentence for name, sentence in errors.items()}


def _number(text: str) -> int | None:
    if not text:
        return None
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


def _text(number: int | None) -> str:
    return "" if number is None else str(number)
