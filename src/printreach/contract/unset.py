"""The value of a field that is left out; for rooms that may not import msgspec."""

from msgspec import UNSET, UnsetType

__all__ = ["UNSET", "UnsetType"]
