"""OctoPrint's files, in the contract's words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.files import EntryType, FileDetails, FileEntry
from printreach.contract.unset import UNSET
from printreach.printers.octoprint.entries import (
    details_of,
    entries_of,
    has_children,
    log_entries_of,
    response_of,
    thumbnail_target,
)
from tests.printers.damage import damaged
from tests.printers.octoprint.recordings import rest

LIST = "idle: files/local?recursive=true"
FILE = "idle: files/local/parts/short.gcode"
FOLDER = "idle: files/local/parts"
LOGS = {"files": [{"name": "octoprint.log", "size": 11054, "date": 1795219621}]}


def entries() -> list[FileEntry]:
    return sorted(entries_of(rest()[LIST], "gcode"), key=lambda entry: entry.path)


def details(answer: object) -> FileDetails:
    return details_of(answer, "gcode/parts/short.gcode", "parts/short.gcode")


def test_files_and_folders_are_listed_with_their_paths() -> None:
    file, folder = entries()

    assert (file.type, file.name) == (EntryType.FILE, "hot print.gcode")
    assert file.virtual_path == file.path == "gcode/hot print.gcode"
    assert file.platform_path == "hot print.gcode"
    assert file.size_bytes == rest()[LIST]["files"][0]["size"]
    assert file.modified_time_sec > 1_700_000_000
    assert (folder.type, folder.path) == (EntryType.FOLDER, "gcode/parts")
    assert isinstance(folder.children, list)
    assert [child.path for child in folder.children] == ["gcode/parts/short.gcode"]


def test_metadata_are_what_has_no_field_of_its_own() -> None:
    metadata = entries()[0].metadata

    assert isinstance(metadata, dict)
    assert metadata["gcodeAnalysis"]
    assert not metadata.keys() & {"name", "path", "size", "date", "refs", "children"}


def test_details_come_from_the_analysis() -> None:
    reported = details(rest()[FILE])

    assert reported.file_name == "short.gcode"
    assert reported.size_bytes == rest()[FILE]["size"]
    assert reported.est_filament_used_mm == 2
    assert reported.est_print_time_sec == 0
    assert reported.object_height_mm == 0.0
    assert reported.thumbnail_count is UNSET


def test_what_has_not_been_analysed_is_left_out() -> None:
    reported = details({"type": "machinecode", "size": 3})

    assert reported.size_bytes == 3
    assert reported.est_filament_used_mm is UNSET
    assert reported.est_print_time_sec is UNSET


def test_a_preview_that_a_plugin_drew_is_counted() -> None:
    assert details({**rest()[FILE], "thumbnail": "plugin/thumbs/a.png"}).thumbnail_count == 1


def test_lengths_of_all_tools_are_added() -> None:
    filament = {"tool0": {"length": 10.5}, "tool1": {"length": 5.5}, "tool2": {"length": None}}
    reported = details({"gcodeAnalysis": {"filament": filament}})

    assert reported.est_filament_used_mm == 16


def test_files_over_two_gigabytes_have_their_size() -> None:
    assert details({"size": 5_000_000_000}).size_bytes == 5_000_000_000


def test_only_a_folder_with_something_in_it_has_children() -> None:
    assert has_children(rest()[FOLDER])
    assert not has_children({"type": "folder", "children": []})
    assert not has_children(rest()[FILE])


def test_logs_are_a_plain_list() -> None:
    entry = log_entries_of(LOGS)[0]

    assert (entry.virtual_path, entry.size_bytes) == ("logs/octoprint.log", 11054)


def test_folders_without_end_end() -> None:
    deep: dict[str, Any] = {"type": "folder", "path": "x", "children": []}
    for _ in range(500):
        deep = {"type": "folder", "path": "x", "children": [deep]}

    assert encode(entries_of({"files": [deep]}, "gcode"))


def test_an_upload_answers_what_octoprint_made_of_it() -> None:
    reported = response_of({"effectivePrint": False, "effectiveSelect": False, "files": {}})

    assert reported == {"effectivePrint": False, "effectiveSelect": False}
    assert response_of(None) is UNSET


@given(st.data())
def test_no_damage_to_a_list_harms_it(data: st.DataObject) -> None:
    listed = entries_of(data.draw(damaged(rest()[LIST])), "gcode")

    assert encode(listed)
    for entry in listed:
        assert entry.path == entry.virtual_path == f"gcode/{entry.platform_path}"
        assert entry.size_bytes >= 0


@given(st.data())
def test_no_damage_to_an_answer_harms_details(data: st.DataObject) -> None:
    assert encode(details(data.draw(damaged(rest()[FILE]))))


def test_a_list_tells_what_the_analysis_found() -> None:
    analysis = {"estimatedPrintTime": 5400.7, "filament": {"tool0": {"length": 6297.6}}}
    file = {"path": "a.gcode", "gcodeAnalysis": analysis, "thumbnail": "plugin/x/a.png"}
    [listed] = entries_of({"files": [file]}, "gcode")

    assert (listed.est_print_time_sec, listed.est_filament_used_mm) == (5400, 6297)
    assert listed.thumbnail_count == 1


@pytest.mark.parametrize(
    ("address", "target"),
    [
        (
            "plugin/slicerthumbnails/thumbnail/a b.png?20240102",
            "/plugin/slicerthumbnails/thumbnail/a%20b.png?20240102",
        ),
        ("/plugin/x/a.png", "/plugin/x/a.png"),
        ("plugin/a\r\nX: y.png", "/plugin/a%0D%0AX:%20y.png"),
        ("http://169.254.169.254/latest", None),
        ("//evil.example/a.png", None),
        ("plugin/../../api/settings", None),
        ("", None),
        (7, None),
    ],
)
def test_a_plugins_picture_is_fetched_from_octoprint_alone(
    address: object, target: str | None
) -> None:
    assert thumbnail_target({"thumbnail": address}) == target
