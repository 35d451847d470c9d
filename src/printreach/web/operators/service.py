"""The service as a whole: counts, limits, and the record of operators' acts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency

from printreach.hub.denied import Denied
from printreach.languages import N_, _, translate
from printreach.rules.accounts.limits import DEFAULT_ACCOUNT_LIMITS, AccountLimits, LimitChanges
from printreach.rules.addresses import is_encrypted
from printreach.rules.operators import BACKUP_IS_DUE_AFTER
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import Search
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.operators.context import OperatorContext, listed
from printreach.web.problems import AnyRequest
from printreach.web.signed_in import untrusted_proxy_of

LIMITS: Final = "/operator/limits"
LIMITS_REAUTH_FIELD: Final = "limits-password"
ACTS: Final = "/operator/acts"
LITTLE_SPACE: Final = 2 * 1024**3
"""Bytes on the disk; with less an operator is warned. A picture of a print takes about 100 KB."""


@get("/operator", media_type=MediaType.HTML)
async def overview(
    request: AnyRequest, operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Show counts and settings."""
    off = operator.services.watched_prints.why_off()
    disk = operator.services.disk_space()
    backed_up_at = await operator.hub.last_backup()
    now = operator.hub.core.clock.now()
    return operator.page(
        "overview.html",
        detector_off=off.value if off is not None else "",
        detector_off_kind=off.name if off is not None else "",
        counts=await operator.hub.counts(),
        sign_up=operator.services.signing_up.policy.value,
        supporters=operator.services.billing.core.supporters.value,
        is_sold=operator.services.billing.is_sold,
        unseen=await operator.services.billing.unseen(),
        unknown=await operator.services.billing.unknown(),
        untrusted_proxy=untrusted_proxy_of(request),
        is_encrypted=is_encrypted(operator.services.addresses.base_url),
        disk=disk,
        is_disk_full=disk.free < LITTLE_SPACE,
        backed_up_at=backed_up_at,
        is_backup_due=backed_up_at is None or now - backed_up_at > BACKUP_IS_DUE_AFTER,
    )


@get(LIMITS, media_type=MediaType.HTML)
async def limits_page(operator: NamedDependency[OperatorContext]) -> Response[Any]:
    """Show the limits of accounts without limits of their own."""
    changes = await operator.hub.limits.of_service()
    fields = limit_fields(changes, DEFAULT_ACCOUNT_LIMITS)
    return operator.page("limits.html", limits=fields)


@post(LIMITS, media_type=MediaType.HTML)
async def set_limits(
    fields: NamedDependency[Fields], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Change those limits."""
    typed = limits_typed(fields)
    refused: Denied | TooSoon | None = None
    field = LIMITS_REAUTH_FIELD
    if isinstance(typed, LimitChanges):
        refused = await operator.reauthenticate(fields, LIMITS_REAUTH_FIELD)
        if refused is None:
            refused, field = (
                await operator.hub.limits.set_of_service(typed, operator.by),
                "upload_bytes",
            )
        if refused is None:
            return redirect_with_flash(LIMITS, "limits")
    shown = operator.page(
        "limits.html",
        refused,
        field,
        limits=limit_fields(LimitChanges(), DEFAULT_ACCOUNT_LIMITS, fields),
    )
    if not isinstance(typed, LimitChanges):
        shown.context["errors"] = typed
        shown.status_code = ERROR_STATUS
    return shown


@get(ACTS, media_type=MediaType.HTML)
async def acts_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List operators' acts, the latest first."""
    return operator.page("acts.html", listing=listed(ACTS, await operator.hub.acts(search), search))


SERVICE_PAGES = [overview, limits_page, set_limits, acts_page]


_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One limit. unit: how many stored units make one of the form's."""

    field: str
    label: str
    hint: str
    unit: int = 1


ROWS: Final = (
    Row(field="upload_bytes", label=N_("Upload, MiB"), hint=N_("One request"), unit=1024**2),
    Row(field="download_bytes", label=N_("Download, MiB"), hint=N_("One request"), unit=1024**2),
    Row(field="webcam_stream_s", label=N_("Webcam, minutes"), hint=N_("One stream"), unit=60),
    Row(field="app_connections", label=N_("App connections"), hint=N_("To one printer")),
    Row(
        field="requests_a_minute",
        label=N_("Requests a minute"),
        hint=N_("To this site and its APIs"),
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitField:
    """One field of the form. default: the limit in force if it is left empty."""

    name: str
    label: str
    hint: str
    value: str


def limit_fields(
    changes: LimitChanges, default: AccountLimits, typed: Fields | None = None
) -> list[LimitField]:
    """Return the fields with the stored values, or those that were sent."""
    return [
        LimitField(
            name=row.field,
            label=translate(row.label),
            hint=_(
                "%(about)s. Empty: %(default)s",
                about=translate(row.hint),
                default=_text(getattr(default, row.field), row.unit),
            ),
            value=_text(getattr(changes, row.field), row.unit)
            if typed is None
            else typed[row.field],
        )
        for row in ROWS
    ]


def limits_typed(fields: Fields) -> LimitChanges | Mapping[str, str]:
    """Parse the form; return the changes, or errors by field."""
    errors: dict[str, str] = {}
    values: dict[str, int | None] = {}
    for row in ROWS:
        text = fields[row.field].strip()
        if text and not _NUMBER.fullmatch(text):
            errors[row.field] = _(
                "%(label)s: give a number, or leave it empty.", label=translate(row.label)
            )
        else:
            values[row.field] = int(Decimal(text) * row.unit) if text else None
    return errors or LimitChanges(**values)


def _text(value: int | None, unit: int) -> str:
    if value is None:
        return ""
    text = f"{Decimal(value) / unit:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
