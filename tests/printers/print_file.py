"""A file to print."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrintFile:
    """A file that a rig's printer can print."""

    name: str
    data: bytes
