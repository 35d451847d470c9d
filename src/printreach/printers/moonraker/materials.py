"""The filament sources and extruders of a Klipper printer. Pure.

A multi-material unit tells its own sources (happy_hare.py, afc.py). Without one, each extruder has
a spool of its own, of which something is known only where Spoolman is asked.
"""

from printreach.contract.materials import MaterialSystem, Source, Tool
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.rules.prints.materials import spool_at_each_tool, within_limits

from .afc import afc_materials
from .happy_hare import mmu_materials
from .status import KnownState, obj, selected_extruder


def materials_of(known: KnownState) -> MaterialSystem | None:
    """Return the materials; None where there is no extruder."""
    tools = _tools(known)
    if not tools:
        return None
    system = mmu_materials(known, tools) or afc_materials(known, tools) or _plain(known, tools)
    return within_limits(system)


def _tools(known: KnownState) -> list[Tool]:
    return [_tool(known, index, name) for index, name in enumerate(known.machine.extruders)]


def _tool(known: KnownState, index: int, name: str) -> Tool:
    """Return a tool. Its id is its object's name, by which multi-material units call it, too."""
    at, selected = obj(known, name), selected_extruder(known)
    actual, target = loose.number(at, "temperature"), loose.number(at, "target")
    nozzle_mm = loose.number(loose.obj(known.settings, name), "nozzle_diameter")
    return Tool(
        id=name,
        index=index,
        name=f"Extruder {index + 1}",
        is_active=UNSET if selected is None else name == selected,
        actual_celsius=loose.known(actual),
        target_celsius=loose.known(target),
        nozzle_diameter_mm=UNSET if nozzle_mm is None or nozzle_mm <= 0 else nozzle_mm,
    )


def _plain(known: KnownState, tools: list[Tool]) -> MaterialSystem:
    is_only_one = len(tools) == 1
    sources = [_spool_holder(known, tool, is_only_one=is_only_one) for tool in tools]
    return spool_at_each_tool(sources, tools)


def _spool_holder(known: KnownState, tool: Tool, *, is_only_one: bool) -> Source:
    """Spoolman knows one spool in use: the selected extruder's."""
    in_use = selected_extruder(known) or (tool.id if is_only_one else None)
    spool = known.spool if tool.id == in_use else None
    return Source(
        id=f"spool-{tool.id}",
        index=tool.index,
        name=f"Spool {tool.index + 1}",
        position=tool.index,
        material=UNSET if spool is None else spool.material,
        platform_details=UNSET if spool is None else {"SpoolId": spool.id},
    )
