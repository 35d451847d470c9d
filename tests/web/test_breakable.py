"""Where names of files may go on in the next line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.web.wording import breakable


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("twisted vase.gcode", "twisted vase|.gcode"),
        ("cable_tray_x4_0.2mm.gcode", "cable_|tray_|x4_|0.2mm|.gcode"),
        ("<b>-1.gcode.3mf", "&lt;b&gt;-|1|.gcode.3mf"),
    ],
)
def test_a_name_breaks_between_its_words_and_not_in_a_number(name: str, broken: str) -> None:
    assert breakable(name).replace("<wbr>", "|") == broken


@given(st.text(max_size=60))
def test_nothing_of_a_name_is_lost(name: str) -> None:
    assert breakable(name).replace("<wbr>", "").unescape() == name.replace("<wbr>", "")
