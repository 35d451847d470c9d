"""The offers, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.languages import N_, _, ngettext, punctuated, translate
from printreach.ports.payments import Offer

_SIGNS: Final[Mapping[str, str]] = MappingProxyType(
    {"eur": "€", "usd": "$", "gbp": "£", "jpy": "¥", "chf": "CHF\N{NO-BREAK SPACE}"}
)
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"year": N_("Yearly"), "month": N_("Monthly"), "week": N_("Weekly"), "day": N_("Daily")}
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
