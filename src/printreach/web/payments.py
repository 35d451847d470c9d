"""Supporter status: its page, the offers in words, and the webhook of the payment provider."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final

from litestar import MediaType, Response, post, route
from litestar.di import NamedDependency
from litestar.exceptions import ClientException, NotFoundException
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied, Reason
from printreach.languages import N_, _, ngettext, punctuated, translate
from printreach.ports.payments import ForgedCall, Offer, PaymentsUnavailable
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.web.forms import Fields, page
from printreach.web.problems import AnyRequest
from printreach.web.routing import DeclaredRouter
from printreach.web.safe_methods import READ, is_head
from printreach.web.security import NO_REFERRER
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

PATH: Final = "/account/supporter"
_PAGE: Final = "account/supporter.html"

LARGEST_CALL: Final = 256 * 1024
"""Several times the size of an event about a subscription."""

_WARNINGS: Final = Limit(name="forged call", at_once=5, every=timedelta(minutes=10))
"""Limits the warnings in the log about wrong signatures."""

_log = logging.getLogger(__name__)

_SIGNS: Final[Mapping[str, str]] = MappingProxyType(
    {"eur": "€", "usd": "$", "gbp": "£", "jpy": "¥", "chf": "CHF\N{NO-BREAK SPACE}"}
)
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"year": N_("Yearly"), "month": N_("Monthly"), "week": N_("Weekly"), "day": N_("Daily")}
)


@route(PATH, http_method=READ, media_type=MediaType.HTML)
async def supporter_page(
    request: AnyRequest, signed_in: NamedDependency[SignedIn], back: FromQuery[str | None] = None
) -> Response[Any]:
    """Show it. back: the browser returns from the provider, whose webhook may not have arrived
    yet.
    """
    if back is None or is_head(request.scope):
        return await _page(signed_in)
    refused = await signed_in.services.billing.look(signed_in.account)
    if refused is not None:
        return await _page(signed_in, refused)
    # Read again, since the provider's answer may have changed the account.
    account = await signed_in.services.accounts.get(signed_in.account_id)
    seen = signed_in if account is None else replace(signed_in, account=account)
    return await _page(seen, is_back=back == "paid")


@post(f"{PATH}/pay", media_type=MediaType.HTML)
async def pay(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Go on to the provider's checkout."""
    url = await signed_in.services.billing.buy(signed_in.account, fields["plan"], PATH)
    if isinstance(url, Denied) and url.reason is Reason.PAYS_ALREADY:
        return Redirect(f"{PATH}?back=managed", status_code=303)
    if not isinstance(url, str):
        return await _page(signed_in, url)
    return auto_redirect_page(url)


@post(f"{PATH}/manage", media_type=MediaType.HTML)
async def manage(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Go on to the provider's page about cards, receipts and cancellation."""
    url = await signed_in.services.billing.manage(signed_in.account)
    if not isinstance(url, str):
        return await _page(signed_in, url)
    return auto_redirect_page(url)


def auto_redirect_page(url: str) -> Template:
    """Render a page that redirects by itself, since our forms may lead only to pages of ours."""
    return Template("account/leaving.html", context={"url": url}, headers=dict(NO_REFERRER))


async def _page(
    signed_in: SignedIn, fault: Denied | TooSoon | None = None, *, is_back: bool = False
) -> Response[Any]:
    standing = await signed_in.services.billing.standing(signed_in.account)
    offers = await signed_in.services.billing.offers()
    if isinstance(offers, Denied):
        fault, offers = fault or offers, ()
    shown = {
        "account": signed_in.account,
        "standing": standing,
        "plans": plans_of(offers),
        "at": signed_in.services.clock.now(),
        "is_waiting": is_back and not standing.is_supporter,
        "is_new": is_back and standing.is_supporter,
    }
    return page(_PAGE, fault, "plan", **shown)


SUPPORTING = [supporter_page, pay, manage]


@post("/payments/stripe", status_code=200)
async def receive_webhook(
    request: AnyRequest, services: NamedDependency[Services]
) -> Response[None]:
    """Take an event. The provider retries for days until it gets a 2xx status."""
    if services.billing.payments is None:
        raise NotFoundException("Nothing is sold here")
    signature = request.headers.get("stripe-signature", "")
    if not signature:
        raise ClientException("The signature is missing")  # the body stays unread
    try:
        await services.billing.hear(await request.body(), signature)
    except ForgedCall as error:
        # A wrong secret in the settings looks the same, so the operator is warned, but not at every
        # request that a stranger sends here.
        if services.caller_tries.take(_WARNINGS, "stripe") is None:
            _log.warning("a payment webhook was refused: %s", error)
        raise ClientException("The signature doesn't fit, or is too old") from None
    except PaymentsUnavailable as error:
        _log.warning("a payment webhook could not be processed and has to be sent again: %s", error)
        return Response(None, status_code=503, headers={"Retry-After": "60"})
    return Response(None, status_code=200)


PAYMENT_CALLS = DeclaredRouter(
    "/",
    route_handlers=[receive_webhook],
    include_in_schema=False,
    request_max_body_size=LARGEST_CALL,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One of the offers. note: how it compares with the others; may be empty."""

    id: str
    name: str
    price: str
    note: str


def plans_of(offers: Sequence[Offer]) -> list[Plan]:
    """Return the plans in the operator's order."""
    return [
        Plan(id=offer.offer_id, name=_name(offer), price=_price(offer), note=_note(offer, offers))
        for offer in offers
    ]


def _name(offer: Offer) -> str:
    count = offer.period_count
    if count == 1:
        return translate(_WORDS.get(offer.period, offer.period.capitalize()))
    match offer.period:
        case "year":
            return ngettext("Every %(num)s year", "Every %(num)s years", count)
        case "month":
            return ngettext("Every %(num)s month", "Every %(num)s months", count)
        case "week":
            return ngettext("Every %(num)s week", "Every %(num)s weeks", count)
        case _other:
            return ngettext("Every %(num)s day", "Every %(num)s days", count)


def _price(offer: Offer) -> str:
    amount = offer.amount
    text = punctuated(f"{amount:,.0f}" if amount == amount.to_integral_value() else f"{amount:,}")
    sign = _SIGNS.get(offer.currency)
    return f"{sign}{text}" if sign else f"{offer.currency.upper()}\N{NO-BREAK SPACE}{text}"


def _note(offer: Offer, offers: Sequence[Offer]) -> str:
    """Return what a year saves compared with twelve months, as a number of months."""
    if offer.period != "year" or offer.period_count != 1:
        return ""
    monthly = [
        other.amount
        for other in offers
        if (other.period, other.period_count, other.currency) == ("month", 1, offer.currency)
    ]
    if not monthly or not monthly[0]:
        return ""
    saved = int(12 - offer.amount / monthly[0]) if offer.amount < 12 * monthly[0] else 0
    if not saved:
        return ""
    return _("Saves a month") if saved == 1 else _saved(saved)


def _saved(months: int) -> str:
    words = [
        _("Saves two months"),
        _("Saves three months"),
        _("Saves four months"),
        _("Saves five months"),
    ]
    if months - 2 < len(words):
        return words[months - 2]
    return ngettext("Saves %(num)s month", "Saves %(num)s months", months)
