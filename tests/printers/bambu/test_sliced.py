"""A slicer's facts about a print, read out of a project without fetching it."""

import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.bambu.estimates import paths_of, plate_of
from printreach.printers.bambu.project import (
    HEAD_BYTES,
    MAX_BYTES,
    MAX_RANGES,
    NOTHING,
    RangedFile,
    SlicerFacts,
    plate_head,
    plate_picture,
    read_sliced,
)
from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES
from tests.printers.bambu.slices import HEAD, gcode, project
from tests.printers.sliced import picture

MB = 1024 * 1024


class Card:
    """A file on a card, and how much of it was fetched."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.fetched = 0
        self.ranges = 0

    def fetch(self, offset: int, count: int) -> bytes:
        self.fetched += count
        self.ranges += 1
        return self._data[offset : offset + count]

    @property
    def file(self) -> RangedFile:
        return RangedFile(len(self._data), self.fetch)


def test_the_totals_are_those_of_all_filaments() -> None:
    assert read_sliced(HEAD) == SlicerFacts(
        time_s=5544,
        layers=35,
        filament_mm=6232,
        filament_mg=19040,
        height_mm=9.25,
        layer_height_mm=0.2,
        first_layer_height_mm=0.25,
        nozzle_mm=0.4,
        filament_type="PLA",
        slicer="BambuStudio",
        slicer_version="02.01.01.52",
    )


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"G28\nG1 X10\n",
        b"; total layer number: many\n; total filament length [mm] : -5\n",
        b"; total estimated time: soon\n; total filament weight [g] : 1,x\n",
        b"; total layer number: 99999999999999\n; total filament length [mm] : inf\n",
        b"; max_z_height: nan\n; layer_height = 0\n; nozzle_diameter = \n; filament_type = \n",
    ],
)
def test_what_is_not_told_or_makes_no_sense_is_not_known(head: bytes) -> None:
    assert read_sliced(head) == NOTHING


@given(st.binary(max_size=2000))
def test_no_file_harms_the_reader(data: bytes) -> None:
    read_sliced(HEAD + data)
    read_sliced(data)


def test_a_large_project_is_read_by_a_few_small_ranges() -> None:
    card = Card(project(gcode() + b"G1 X1 E1\n" * MB, filler=8 * MB))

    assert plate_head(card.file) == (gcode() + b"G1 X1 E1\n" * MB)[:HEAD_BYTES]
    assert card.fetched < MB // 2
    assert card.ranges < 10


def test_the_plate_that_is_printed_counts() -> None:
    card = Card(project(b"; total layer number: 1\n", b"; total layer number: 2\n"))

    assert plate_head(card.file) == b"; total layer number: 1\n"
    assert plate_head(card.file, 2) == b"; total layer number: 2\n"
    assert plate_head(card.file, 3) is None


def test_the_picture_of_the_first_plate_is_taken_out_of_a_project() -> None:
    card = Card(project(gcode(), filler=8 * MB, picture=picture(64)))

    assert plate_picture(card.file) == picture(64)
    assert card.ranges < 10
    assert plate_picture(Card(project(gcode())).file) is None


@pytest.mark.slow
def test_a_picture_that_inflates_to_very_much_is_read_no_further_than_allowed() -> None:
    data = plate_picture(Card(project(gcode(), picture=bytes(256 * MB))).file)

    assert data == bytes(MAX_THUMBNAIL_BYTES + 1)


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x05\x06" + bytes(18), project()])
def test_what_holds_no_plate_tells_nothing(data: bytes) -> None:
    assert plate_head(Card(data).file) is None


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=60))
def test_a_damaged_project_harms_nothing(where: int, noise: bytes) -> None:
    data = bytearray(project(gcode(), filler=100))
    at = where % len(data)
    data[at : at + len(noise)] = noise
    head = plate_head(Card(bytes(data)).file)

    assert head is None or len(head) <= HEAD_BYTES


def test_a_directory_too_large_to_be_worth_it_is_left() -> None:
    data = bytearray(project(gcode(), filler=4 * MB))
    end = data.rfind(b"PK\x05\x06")
    data[end + 12 : end + 20] = (3 * MB).to_bytes(4, "little") + (1000).to_bytes(4, "little")
    card = Card(bytes(data))

    assert plate_head(card.file) is None
    assert card.fetched <= MAX_BYTES
    assert card.ranges <= MAX_RANGES


def test_a_member_that_inflates_to_very_much_is_read_no_further_than_needed() -> None:
    card = Card(project(bytes(64 * MB)))

    head = plate_head(card.file)

    assert head == bytes(HEAD_BYTES)
    assert zipfile.is_zipfile(card.file)


@pytest.mark.parametrize(
    ("report", "started", "paths"),
    [
        (
            {"subtask_name": "vase.gcode.3mf"},
            "gcode/parts/vase.gcode.3mf",
            ["gcode/parts/vase.gcode.3mf"],
        ),
        ({"subtask_name": "vase.gcode.3mf"}, "gcode/cube.gcode", ["gcode/vase.gcode.3mf"]),
        (
            {"subtask_name": "vase", "gcode_file": "/data/Metadata/plate_2.gcode"},
            None,
            ["gcode/vase.gcode.3mf", "gcode/vase.3mf", "gcode/vase.gcode"],
        ),
        ({"gcode_file": "/cube.gcode"}, None, ["gcode/cube.gcode"]),
        ({}, "gcode/cube.gcode", []),
        ({"subtask_name": 7, "gcode_file": None}, None, []),
    ],
)
def test_the_file_is_looked_for_where_it_may_be(
    report: dict[str, object], started: str | None, paths: list[str]
) -> None:
    assert paths_of(report, started) == paths


def test_the_plate_is_told_by_the_file_that_the_printer_took_out() -> None:
    assert plate_of({"gcode_file": "/data/Metadata/plate_2.gcode"}) == 2
    assert plate_of({"gcode_file": "/cube.gcode"}) is None
