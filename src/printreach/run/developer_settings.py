"""Parsers of the settings about developers, in the style of `run/setting_values.py`."""

import re
from decimal import Decimal
from typing import Final

from printreach.rules.apps.registration import AppPolicy
from printreach.rules.detection.usage import Tier, problem_with_tiers
from printreach.run.setting_values import WrongValue

DEFAULT_PRICES: Final = "1000000:0.0004 20000000:0.00025 0.00015"
"""US dollars per call: up to a number of calls in a month, and beyond it."""

_TIER: Final = re.compile(r"(?:([0-9]{1,15}):)?([0-9]{1,6}(?:\.[0-9]{1,9})?)")


def read_app_policy(text: str) -> AppPolicy:
    """Parse `open` or `operators`."""
    try:
        return AppPolicy(text.lower())
    except ValueError:
        raise WrongValue(f"is {text!r}, which is not {' or '.join(AppPolicy)}.") from None


def read_prices(text: str) -> tuple[Tier, ...]:
    """Parse `CALLS:USD … USD`, separated by commas or blanks; amounts are kept as exact
    decimals.
    """
    tiers = tuple(_tier(part) for part in re.split(r"[,\s]+", text) if part)
    problem = problem_with_tiers(tiers)
    if problem is not None:
        raise WrongValue(f"{problem}, as in {DEFAULT_PRICES}.")
    return tiers


def _tier(text: str) -> Tier:
    match = _TIER.fullmatch(text)
    if match is None:
        raise WrongValue(f"holds {text!r}, which is no price such as 1000000:0.0004.")
    return Tier(int(match[1]) if match[1] else None, Decimal(match[2]))
