"""Reads a slicer's metadata, as PrusaLink reports it. Pure.

Names are PrusaSlicer's own. Source: `gcode_metadata` 0.2.0 and Buddy's `prusa_link_api_v1`.
"""

import re

from printreach.printers import loose
from printreach.printers.loose import Json

_TIME = re.compile(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?", re.ASCII)
_UNIT_S = (86_400, 3_600, 60, 1)


def print_time_s(meta: Json) -> int | None:
    """Return the slicer's estimate."""
    told_s = loose.count(meta, "estimated_print_time")
    if told_s is not None:
        return told_s
    words = loose.text(meta, "estimated printing time (normal mode)") or ""
    found = _TIME.fullmatch(words.strip()[:40])
    if found is None or not any(found.groups()):
        return None
    total_s = sum(
        int(count or 0) * unit for count, unit in zip(found.groups(), _UNIT_S, strict=True)
    )
    return total_s if total_s <= loose.MAX_INT else None


def filament_mm(meta: Json) -> int | None:
    return loose.count(meta, "filament used [mm]")


def filament_mg(meta: Json) -> int | None:
    grams = loose.number(meta, "filament used [g]")
    if grams is None or not 0 <= grams <= loose.MAX_INT / 1000:
        return None
    return int(grams * 1000)
