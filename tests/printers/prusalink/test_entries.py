"""PrusaLink's folders and files in the contract's words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.files import EntryType
from printreach.contract.unset import UNSET
from printreach.printers.prusalink.entries import (
    details_of,
    download_path,
    entries_of,
    has_children,
    is_folder,
    name_of,
    print_time_s,
    storable,
)
from tests.printers.damage import damaged
from tests.printers.prusalink.recordings import buddy, recorded

ROOT, PARTS = "idle: v1/files/local", "idle: v1/files/local/parts"
SLICED = "idle: v1/files/local/parts/sliced%20part.gcode"
BRACKET = "idle: v1/files/usb/bracket%20for%20shelf.bgcode"


def test_a_folder_lists_its_folders_and_files() -> None:
    folder, file = entries_of(recorded()[ROOT], "gcode")

    assert (folder.type, folder.virtual_path) == (EntryType.FOLDER, "gcode/parts")
    assert (file.type, file.virtual_path, file.platform_path) == (
        *(EntryType.FILE, "gcode/plain.gcode", "plain.gcode"),
    )
    assert file.size_bytes > 0
    assert file.permissions == "rw"


def test_details_tell_what_the_slicer_wrote() -> None:
    details = details_of(
        recorded()[SLICED], "gcode/parts/sliced part.gcode", "parts/sliced part.gcode"
    )

    assert details.file_name == "sliced part.gcode"
    assert details.est_print_time_sec == 100
    assert details.est_filament_used_mm == 1234
    assert details.est_filament_weight_mg == 3680
    assert details.layer_height_mm == 0.2
    assert details.filament_type == "PETG"
    assert details.nozzle_diameter_mm == 0.4
    assert details.thumbnail_count == 1


def test_buddys_files_go_by_their_long_names() -> None:
    file, folder = entries_of(buddy()["idle: v1/files/usb/"], "gcode")

    assert (file.name, folder.name) == ("bracket for shelf.bgcode", "parts")
    assert folder.type is EntryType.FOLDER
    assert download_path(buddy()[BRACKET]) == "/usb/BRACKE~1.BGC"


@pytest.mark.parametrize(
    ("words", "seconds"),
    [("1m 40s", 100), ("47m 5s", 2825), ("1d 2h 3m 4s", 93784), ("", None), ("soon", None)],
)
def test_a_slicers_estimate_is_read_from_its_words(words: str, seconds: int | None) -> None:
    assert print_time_s({"estimated printing time (normal mode)": words}) == seconds


def test_what_a_name_must_not_have_becomes_an_underscore() -> None:
    assert storable('a #1 100%/b?"c\\.gcode') == "a _1 100_/b__c_.gcode"
    assert storable("Würfel (立方体) & more.gcode") == "Würfel (立方体) & more.gcode"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", None, 3, []])
def test_a_name_that_is_none_is_left_out(name: object) -> None:
    listed = {"children": [{"name": name, "type": "PRINT_FILE"}]}

    assert entries_of(listed, "gcode") == []


def test_a_file_on_the_printers_card_cannot_be_downloaded() -> None:
    assert download_path({"refs": {"download": None}}) is None
    assert download_path({"refs": {"download": "http://elsewhere/x"}}) is None


def test_what_is_unknown_is_left_out() -> None:
    details = details_of({}, "gcode/x.gcode", "x.gcode")

    assert details.size_bytes is UNSET
    assert details.est_print_time_sec is UNSET
    assert details.thumbnail_count is UNSET


@pytest.mark.slow
@given(st.data())
def test_no_damage_to_a_list_or_a_file_harms(data: st.DataObject) -> None:
    listed = data.draw(damaged(recorded()[ROOT]) | damaged(recorded()[PARTS]))
    file = data.draw(damaged(recorded()[SLICED]) | damaged(buddy()[BRACKET]))
    details = details_of(file, "gcode/x.gcode", "x.gcode")

    assert isinstance(is_folder(listed) or has_children(listed), bool)
    assert all("/" not in entry.name for entry in entries_of(listed, "gcode"))
    assert json.loads(encode(entries_of(listed, "gcode"))) is not None
    assert json.loads(encode(details))["FileName"] == "x.gcode"
    assert name_of(file) is None or name_of(file) != ""
