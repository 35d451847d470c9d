"""Pages of the failure-detection API: an account's keys, its usage by day, and whether it pays."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.hub.detection.usage import MonthOfUse
from printreach.languages import N_, _, grouped, punctuated
from printreach.languages.values import decimal
from printreach.rules.detection.usage import Billing, Tier, parse_month, print_hours
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import (
    REAUTH_FIELD,
    Fields,
    page,
    reauthenticate,
    reauthentication_context,
)
from printreach.web.problems import or_404
from printreach.web.safe_methods import USED_UP
from printreach.web.signed_in import SignedIn

_USAGE: Final = "developer/usage.html"
_PAYING: Final = "developer/paying.html"
_TOPS: Final = (2, 4, 6, 10)


@dataclass(frozen=True, slots=True)
class Bar:
    """A day in the chart and in the table."""

    day: date
    calls: int
    hours: str


@get("/usage", media_type=MediaType.HTML)
async def usage_page(
    signed_in: NamedDependency[SignedIn], month: FromQuery[str | None] = None
) -> Response[Any]:
    """Show one calendar month."""
    chosen = parse_month(month) if month else None
    if month and chosen is None:
        raise NotFoundException(N_("There is no such month"))
    use = await signed_in.services.detection_usage.month(signed_in.account_id, chosen)
    return page(_USAGE, **_shown(use))


@post("/usage/free-only", media_type=MediaType.HTML)
async def set_free_only(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Choose whether the account never pays."""
    account_id, free_only = signed_in.account_id, fields["to"] != "off"
    question = None if free_only else await _question(fields, "free-only", signed_in)
    if question is not None:
        return question
    await signed_in.services.detection_usage.set_free_only(account_id, free_only=free_only)
    return redirect_with_flash("/usage", "switched")


@post("/usage/billing", media_type=MediaType.HTML)
async def set_billing(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Choose whether it pays for calls beyond the allowance. Only the value "on" can cost
    anything.
    """
    account_id, usage = signed_in.account_id, signed_in.services.detection_usage
    is_on = fields["to"] == "on"
    question = await _question(fields, "billing", signed_in) if is_on else None
    if question is not None:
        return question
    refused = await usage.set_billing(account_id, on=is_on)
    if isinstance(refused, Denied):
        use = await usage.month(account_id)
        return page(_USAGE, refused, "billing", **_shown(use))
    return redirect_with_flash("/usage", "switched")


async def _question(fields: Fields, switch: str, signed_in: SignedIn) -> Response[Any] | None:
    """Reauthenticate before anybody may have to pay; return None, or the page that asks again."""
    shown = {"switch": switch, "to": fields["to"], **reauthentication_context(signed_in)}
    if fields["asked"] != "yes":
        return page(_PAYING, **shown)
    refused = await reauthenticate(signed_in, fields)
    return None if refused is None else page(_PAYING, refused, REAUTH_FIELD, **shown)


def _shown(use: MonthOfUse) -> dict[str, Any]:
    days = [Bar(day, calls, _hours(calls)) for day, calls in use.by_day.items()]
    position = use.months.index(use.month) if use.month in use.months else None
    return {
        "use": use,
        "days": days,
        "top": _top(max(use.by_day.values())),
        "hours": _hours(use.calls.all),
        "left": max(0, use.plan.free_calls - use.calls.all),
        "cost": _dollars(use.cost_usd),
        "prices": _prices(use.plan.free_calls, use.plan.tiers),
        "is_blocked": use.switches.billing is Billing.BLOCKED,
        "has_billing": use.switches.billing is Billing.ON,
        "older": _month_at(use, None if position is None else position + 1),
        "newer": _month_at(use, None if position is None else position - 1),
    }


def _month_at(use: MonthOfUse, position: int | None) -> str:
    """Return the link to another month with usage; "" if there is none. A month without usage links
    back.
    """
    if position is None:
        return f"/usage?month={use.months[0]}" if use.months[0] != use.month else ""
    return f"/usage?month={use.months[position]}" if 0 <= position < len(use.months) else ""


def _top(most: int) -> int:
    """Return the upper end of the chart: a round number with an integer half."""
    scale = 1
    while most > _TOPS[-1] * scale:
        scale *= 10
    return next(top * scale for top in _TOPS if most <= top * scale)


def _hours(calls: int) -> str:
    return decimal(print_hours(calls), 1)


def _dollars(amount: Decimal) -> str:
    """Format an amount exactly, with at least two decimals."""
    text = f"{amount.normalize():,f}"
    dollars, _point, cents = text.partition(".")
    return _("$%(price)s", price=punctuated(f"{dollars}.{cents.ljust(2, '0')}"))


def _prices(free_calls: int, tiers: tuple[Tier, ...]) -> list[tuple[str, str]]:
    """Describe each tier in words."""
    first = _("The first %(free_calls)s calls a month", free_calls=grouped(free_calls))
    rows = [(first, _("free"))]
    for tier in tiers:
        price = _("$%(price)s a call", price=punctuated(f"{tier.usd_a_call:f}"))
        if tier.up_to is None:
            rows.append((_("Every call beyond"), price))
        elif tier.up_to > free_calls:
            rows.append((_("Up to %(up_to)s", up_to=grouped(tier.up_to)), price))
    return rows


_NEW = "developer/new_key.html"


@get("/developer/new-key", media_type=MediaType.HTML)
async def new_key_page(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Ask for the key's purpose."""
    return page(_NEW, typed="", **reauthentication_context(signed_in))


@post("/developer/new-key", media_type=MediaType.HTML)
async def make(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Create the key, and redirect to the page that shows it."""
    account_id, services = signed_in.account_id, signed_in.services
    shown = {"typed": fields["name"][:100], **reauthentication_context(signed_in)}
    refused = await reauthenticate(signed_in, fields)
    if refused is not None:
        return page(_NEW, refused, REAUTH_FIELD, **shown)
    made = await services.detection_keys.make(account_id, fields["name"])
    if isinstance(made, Denied):
        return page(_NEW, made, "name", **shown)
    await services.shown_keys.put(account_id, made.key.key_id, made)
    return Redirect(f"/developer/keys/{made.key.key_id}", status_code=303)


@get("/developer/keys/{key_id:str}", media_type=MediaType.HTML, opt=dict(USED_UP))
async def key_page(key_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Show the key once."""
    account_id = signed_in.account_id
    key = or_404(await signed_in.services.detection_keys.one(account_id, key_id))
    context = {
        "key": key,
        "made": await signed_in.services.shown_keys.take(account_id, key_id),
    }
    return Template("developer/key.html", context=context)


@post("/developer/keys/done", media_type=MediaType.HTML)
async def done(
    signed_in: NamedDependency[SignedIn],  # noqa: ARG001 - asking for it needs somebody
) -> Redirect:
    """Go on, now that the key is saved."""
    return Redirect("/developer#keys", status_code=303)


@get("/developer/keys/{key_id:str}/disable", media_type=MediaType.HTML)
async def ask_to_disable(key_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Ask before programs are locked out."""
    key = or_404(await signed_in.services.detection_keys.one(signed_in.account_id, key_id))
    return Template("developer/disable_key.html", context={"key": key})


@post("/developer/keys/{key_id:str}/disable", media_type=MediaType.HTML)
async def disable(key_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Redirect:
    """Disable the key."""
    or_404(await signed_in.services.detection_keys.disable(signed_in.account_id, key_id))
    return redirect_with_flash("/developer", "disabled")


DETECTION_PAGES = [
    *(new_key_page, make, key_page, done, ask_to_disable, disable),
    *(usage_page, set_free_only, set_billing),
]
