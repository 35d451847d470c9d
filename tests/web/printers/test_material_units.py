"""What is said of a unit of filament."""

from printreach.contract.materials import Capabilities, MaterialSystem, Unit
from printreach.languages import speaking
from printreach.web.printers.materials import units_of


def test_what_a_unit_of_filament_does_is_said_in_the_readers_language() -> None:
    unit = Unit(id="u", index=0, name="Box", humidity_percent=24.0, is_drying=True)
    system = MaterialSystem(
        capabilities=Capabilities(), sources=[], tools=[], units=[unit], routes=[]
    )

    with speaking("de"):
        assert units_of(system)[0]["about"] == ["24 % Luftfeuchte", "trocknet"]
