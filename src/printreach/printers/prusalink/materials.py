"""One tool and one spool: PrusaLink tells of no more, whatever the printer has. Pure."""

from printreach.contract.materials import Capabilities, MaterialSystem, Route, Source, Tool
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.loose import Json


def materials_of(printer: Json, nozzle_mm: float | None) -> MaterialSystem:
    """printer: of /api/v1/status."""
    actual, target = loose.number(printer, "temp_nozzle"), loose.number(printer, "target_nozzle")
    tool = Tool(
        id="tool0",
        index=0,
        name="Tool 1",
        actual_celsius=UNSET if actual is None else actual,
        target_celsius=UNSET if target is None else target,
        nozzle_diameter_mm=UNSET if nozzle_mm is None else nozzle_mm,
    )
    return MaterialSystem(
        capabilities=Capabilities(),
        sources=[Source(id="spool0", index=0, name="Spool 1")],
        tools=[tool],
        units=[],
        routes=[Route(source_id="spool0", tool_id="tool0")],
    )
