"""The value of a field that is left out; for rooms that know the contract but not its library."""

from msgspec import UNSET, UnsetType

__all__ = ["UNSET", "UnsetType"]
