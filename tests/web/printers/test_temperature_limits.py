"""What the controls say of a temperature that is beyond a limit."""

import pytest

from printreach.contract.commands import SetTemp
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers.commands import CommandLimits, set_temp_problem
from tests.web.printers.conftest import Home


@pytest.mark.parametrize(
    ("fields", "limit"),
    [({"bed": "90"}, "0 to 75 whole degrees."), ({"hotend": "300"}, "0 to 260 whole degrees.")],
)
def test_a_temperature_beyond_the_limit_says_why_there_is_one(
    home: Home, fields: dict[str, str], limit: str
) -> None:
    page = home.send("/heat", **fields).text

    assert f"{limit} For safety, more can only be set at the printer itself." in page
    assert "For safety" not in home.send("/heat", bed="warm").text


def test_a_limit_that_an_agents_owner_has_set_is_told_without_names_of_the_interface(
    home: Home,
) -> None:
    said = set_temp_problem(SetTemp(bed_c=70.0), CommandLimits(bed_c=60.0))
    assert said is not None
    home.world.printers.answers["/set-temp"] = PrinterRefusal(751, said)
    page = home.send("/heat", bed="70", sure="yes").text

    assert "Bed: at most 60°. That is the limit in the agent" in page
    assert "BedC" not in page
