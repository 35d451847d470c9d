"""Parts of open pages that are kept up to date."""

import pytest

from printreach.contract.status import State
from printreach.web.quick_view import PARTS
from tests.look.test_every_page import TEMPLATES
from tests.web.printers.conftest import Home, printing


def test_each_part_has_a_template() -> None:
    names = {name for names in PARTS.values() for name in names}
    parts = {path.stem for path in (TEMPLATES / "dashboard" / "parts").iterdir()}

    assert names <= parts


@pytest.mark.parametrize("features", [63, 0])
def test_an_idle_printer_offers_to_print_a_file_where_it_can(home: Home, features: int) -> None:
    home.says(printing(state=State.IDLE, file_name="", features=features))
    page = home.get().text

    assert "Nothing is printing." in page
    assert ("<span>Print a file</span>" in page) == bool(features)
