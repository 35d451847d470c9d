"""The offers, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.ports.payments import Offer

_SIGNS: Final[Mapping[str, str]] = MappingProxyType(
    {"eur": "€", "usd": "$", "gbp": "£", "jpy": "¥", "chf": "CHF\N{NO-BREAK SPACE}"}
)
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"year": "Yearly", "month": "Monthly", "week": "Weekly", "day": "Daily"}
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
    if offer.period_count == 1:
        return _WORDS.get(offer.period, offer.period.capitalize())
    return f"Every {offer.period_count} {offer.period}s"


def _price(offer: Offer) -> str:
    amount = offer.amount
    text = f"{amount:,.0f}" if amount == amount.to_integral_value() else f"{amount:,}"
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
    return f"Saves {_count(saved)}" if saved else ""


def _count(months: int) -> str:
    words = ["", "a month", "two months", "three months", "four months", "five months"]
    return words[months] if months < len(words) else f"{months} months"
