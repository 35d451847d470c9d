"""A print job: a file's lines, and what is known of them before they are run."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """What a trial run of the whole file told. seconds: of a print that begins cold."""

    seconds: float
    filament_mm: float
    layers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """size_bytes: of all lines together, line ends included; progress is measured against it.

    lines: read once, while the print goes on.
    """

    name: str
    size_bytes: int
    lines: Iterable[bytes]
    survey: Survey | None = None
