"""Codes of the interface that are not used yet, and the part that will use them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

AWAITED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "611": "preview features",
    }
)
"""A code is removed from this table by the commit that returns it, with a test that provokes it."""
