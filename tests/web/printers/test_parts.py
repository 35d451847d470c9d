"""Parts of open pages that are kept up to date."""

from printreach.web.quick_view import PARTS
from tests.look.test_every_page import TEMPLATES


def test_each_part_has_a_template() -> None:
    names = {name for names in PARTS.values() for name in names}
    parts = {path.stem for path in (TEMPLATES / "dashboard" / "parts").iterdir()}

    assert names <= parts
