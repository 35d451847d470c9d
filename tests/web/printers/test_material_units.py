"""What is said of a unit of filament."""

import pytest

from printreach.contract.materials import (
    Capabilities,
    Material,
    MaterialSystem,
    Source,
    Tool,
    Unit,
)
from printreach.languages import speaking
from printreach.web.printers.materials import tells_anything, tools_of, units_of


def test_what_a_unit_of_filament_does_is_said_in_the_readers_language() -> None:
    unit = Unit(id="u", index=0, name="Box", humidity_percent=24.0, is_drying=True)
    system = MaterialSystem(
        capabilities=Capabilities(), sources=[], tools=[], units=[unit], routes=[]
    )

    with speaking("de"):
        assert units_of(system)[0]["about"] == ["24 % Luftfeuchte", "trocknet"]


def one_spool(source: Source, tool_name: str = "Hotend") -> MaterialSystem:
    tool = Tool(id="tool0", index=0, name=tool_name)
    return MaterialSystem(
        capabilities=Capabilities(), sources=[source], tools=[tool], units=[], routes=[]
    )


@pytest.mark.parametrize(
    ("name", "in_french"),
    [
        ("Hotend", "Tête chauffante"),
        ("Nozzle", "Buse"),
        ("Nozzle 2", "Buse 2"),
        ("Tool 1", "Outil 1"),
        ("Extruder 1", "Extrudeur 1"),
        ("Tool of Ada", "Tool of Ada"),
    ],
)
def test_a_tool_that_an_agent_named_is_named_in_the_readers_language(
    name: str, in_french: str
) -> None:
    with speaking("fr"):
        assert (
            tools_of(one_spool(Source(id="s", index=0, name="Spool"), name))[0]["name"] == in_french
        )


def test_one_spool_of_which_nothing_is_known_tells_nothing() -> None:
    known = Source(id="s", index=0, name="Spool", material=Material(type="PLA"))

    assert not tells_anything(one_spool(Source(id="s", index=0, name="Spool")))
    assert tells_anything(one_spool(known))
    assert tells_anything(one_spool(Source(id="s", index=0, name="Spool", is_empty=True)))
