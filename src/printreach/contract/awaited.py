"""Codes of the interface that nothing gives yet, and the part that will."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

AWAITED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "611": "preview features",
    }
)
"""A code leaves this table with the commit that gives it and the test that provokes it."""
