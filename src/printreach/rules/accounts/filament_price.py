"""The price of filament that an account has set, and what a print costs by it."""

import re
from dataclasses import dataclass
from typing import Final

from printreach.languages import punctuated

MAX_CENTS: Final = 100_000_000
MAX_CURRENCY_CHARS: Final = 8
_PRICE: Final = re.compile(r"(\d{1,6})(?:[.,](\d{1,2}))?", re.ASCII)
_CURRENCY: Final = re.compile(r"[^\W\d_]{1,8}|[\u0024\u00a3\u00a5\u20a0-\u20cf]")
"""Letters such as EUR or kr, or a sign."""
_MG_PER_KG: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class FilamentPrice:
    """The price of a kilogram.

    cents: hundredths of the currency, above 0. currency: as its owner writes it.
    """

    cents: int
    currency: str


def parse_filament_price(price: str, currency: str) -> FilamentPrice | None:
    """Parse what was typed, "24.90" and "EUR"; None if it is no price."""
    amount, unit = _PRICE.fullmatch(price.strip()), currency.strip()
    if amount is None or _CURRENCY.fullmatch(unit) is None:
        return None
    cents = int(amount[1]) * 100 + int((amount[2] or "0").ljust(2, "0"))
    return FilamentPrice(cents=cents, currency=unit) if cents > 0 else None


def price_in_words(price: FilamentPrice) -> str:
    """Return the amount without its currency: "24.90"."""
    return f"{price.cents // 100}.{price.cents % 100:02}"


def cost_of(price: FilamentPrice | None, weight_mg: int) -> str:
    """Return what filament of a weight costs: "0.47 EUR"; "" where either is unknown."""
    if price is None or weight_mg <= 0:
        return ""
    cents = -(-price.cents * weight_mg // _MG_PER_KG)
    return f"{punctuated(f'{cents // 100}.{cents % 100:02}')} {price.currency}"
