"""Tools from the heaters that OctoPrint reports, each with a spool of its own. Pure.

OctoPrint knows no materials, and which tool is selected it keeps to itself.
"""

import re

from printreach.contract.materials import (
    MAX_TOOLS,
    Capabilities,
    MaterialSystem,
    Route,
    Source,
    Tool,
)
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.loose import Json

from .profile import Profile

_TOOL = re.compile(r"tool([0-9]{1,2})", re.ASCII)


def materials_of(temps: Json, profile: Profile) -> MaterialSystem | None:
    """temps: by heater. None before the first temperatures came."""
    numbers = sorted({int(found[1]) for name in temps if (found := _TOOL.fullmatch(name))})
    if not numbers:
        return None
    numbers = numbers[:MAX_TOOLS]
    has_several = len(numbers) > 1
    return MaterialSystem(
        capabilities=Capabilities(
            supports_multi_material=has_several, supports_multi_tool=has_several
        ),
        sources=[
            Source(id=f"spool{number}", index=index, name=f"Spool {number + 1}", position=number)
            for index, number in enumerate(numbers)
        ],
        tools=[_tool(number, temps, profile) for number in numbers],
        units=[],
        routes=[Route(source_id=f"spool{number}", tool_id=f"tool{number}") for number in numbers],
    )


def _tool(number: int, temps: Json, profile: Profile) -> Tool:
    heat = loose.obj(temps, f"tool{number}")
    actual, target = loose.number(heat, "actual"), loose.number(heat, "target")
    return Tool(
        id=f"tool{number}",
        index=number,
        name=f"Tool {number + 1}",
        actual_celsius=UNSET if actual is None else actual,
        target_celsius=UNSET if target is None else target,
        nozzle_diameter_mm=UNSET if profile.nozzle_mm is None else profile.nozzle_mm,
    )
