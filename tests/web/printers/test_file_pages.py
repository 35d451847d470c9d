"""What pages show of a printer's files before they are printed: pictures, times, questions."""

import struct
import time

import pytest

from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileList
from printreach.contract.status import State
from printreach.ports.printer_http import PrinterRefusal
from printreach.web.printers.folders import find_file, folder_of, parse_folder_query
from tests.fakes.printer_http import OFFLINE
from tests.printers.sliced import picture
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_files import entry
from tests.web.test_languages import GERMAN
from tests.web.world import BASE_URL, send

FILE = "gcode/part.gcode"
THUMBNAIL = "/files/thumbnail?path=gcode%2Fpart.gcode"
DETAILS = FileDetails(
    virtual_path=FILE,
    platform_path="part.gcode",
    file_name="part.gcode",
    size_bytes=1_400_000,
    modified_time_sec=1e9,
    est_print_time_sec=5400,
    est_filament_used_mm=6297,
    est_filament_weight_mg=18_770,
    layer_count=60,
    layer_height_mm=0.2,
    filament_type="PLA",
    slicer="PrusaSlicer",
)


@pytest.fixture
def idle(home: Home) -> Home:
    home.says(printing(state=State.IDLE))
    home.world.printers.answers["/files/list"] = FileList(root=[entry("part.gcode")])
    home.world.printers.answers["/files/details"] = DETAILS
    return home


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_a_thumbnail_is_served_as_what_its_bytes_are(
    idle: Home, kind: str, media_type: str
) -> None:
    idle.world.printers.raw["/files/thumbnail"] = ("text/html", picture(32, kind))
    answer = idle.get(THUMBNAIL)

    assert answer.content == picture(32, kind)
    assert answer.headers["content-type"] == media_type
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["cache-control"] == "private, max-age=86400"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<script>alert(1)</script>",
        picture(32)[:-20],
        picture(32) + b"\0" * 1024 * 1024,
        picture(32)[:16] + struct.pack(">II", 50_000, 50_000) + picture(32)[24:],
    ],
)
def test_what_is_no_picture_is_never_served(idle: Home, body: bytes) -> None:
    idle.world.printers.raw["/files/thumbnail"] = ("image/png", body)

    assert idle.get(THUMBNAIL).status_code == 204


def test_an_endless_picture_is_read_no_further_than_allowed(idle: Home) -> None:
    idle.world.printers.is_endless = True
    idle.world.printers.raw["/files/thumbnail"] = ("image/png", picture(8) + b"\0" * 2_000_000)

    assert idle.get(THUMBNAIL).status_code == 204


def test_a_printer_is_asked_once_for_a_thumbnail_of_one_version(idle: Home) -> None:
    idle.world.printers.raw["/files/thumbnail"] = ("image/png", picture(32))
    for version in ("1", "1", "2"):
        assert idle.get(f"{THUMBNAIL}&v={version}").status_code == 200

    assert idle.world.printers.opened.count("/files/thumbnail") == 2


@pytest.mark.parametrize(("refusal", "asked"), [(PrinterRefusal(404, "No."), 1), (OFFLINE, 2)])
def test_a_file_without_a_thumbnail_is_not_asked_again_soon(
    idle: Home, refusal: PrinterRefusal, asked: int
) -> None:
    idle.world.printers.answers["/files/thumbnail"] = refusal
    for _ in range(2):
        assert idle.get(THUMBNAIL).status_code == 204

    assert idle.world.printers.opened.count("/files/thumbnail") == asked


@pytest.mark.parametrize("path", ["", "gcode", "config%2Fx", "gcode%2F..%2Fconfig%2Fx"])
def test_a_thumbnail_of_no_file_asks_no_printer(idle: Home, path: str) -> None:
    assert idle.get(f"/files/thumbnail?path={path}").status_code == 400
    assert idle.world.printers.opened == []


def test_another_accounts_thumbnails_are_those_of_no_printer(idle: Home, bobs_printer: str) -> None:
    idle.world.printers.raw["/files/thumbnail"] = ("image/png", picture(32))

    assert idle.get(THUMBNAIL).status_code == 200
    assert idle.browser.get(f"/printers/{bobs_printer}{THUMBNAIL}").status_code == 404


def test_a_list_shows_what_the_printer_tells_of_each_file(idle: Home) -> None:
    told = FileEntry(
        type=EntryType.FILE,
        name="part.gcode",
        virtual_path=FILE,
        path=FILE,
        platform_path="part.gcode",
        size_bytes=1_400_000,
        est_print_time_sec=5400,
        est_filament_weight_mg=18_770,
        thumbnail_count=2,
    )
    idle.world.printers.answers["/files/list"] = FileList(root=[told])
    page = idle.get("/files").text

    assert "1 h 30 min" in page
    assert "19 g" in page
    assert "/files/thumbnail?path=gcode%2Fpart.gcode&amp;v=0-1400000" in page


def test_only_what_the_printer_can_print_has_a_print_button(idle: Home) -> None:
    names = ["part.gcode", "BOX.GCO", "notes.txt", "model.stl", "part.gcode.bak"]
    idle.world.printers.answers["/files/list"] = FileList(root=[entry(name) for name in names])
    page = idle.get("/files").text

    offered = [name for name in names if f"/files/start?path=gcode%2F{name}" in page]
    assert offered == ["part.gcode", "BOX.GCO"]
    assert "/files/thumbnail?path=gcode%2Fnotes.txt" not in page
    assert "print this file" in idle.get("/files/start?path=gcode%2Fnotes.txt").text


def test_files_are_sorted_as_their_reader_wants(idle: Home) -> None:
    def file(name: str, size: int, time_s: int, at: float) -> FileEntry:
        path = f"gcode/{name}"
        return FileEntry(
            type=EntryType.FILE,
            name=name,
            virtual_path=path,
            path=path,
            platform_path=path,
            size_bytes=size,
            est_print_time_sec=time_s,
            modified_time_sec=at,
        )

    files = [file("a.gcode", 1, 3, 2e9), file("b.gcode", 3, 2, 1e9), file("c.gcode", 2, 9, 3e9)]
    idle.world.printers.answers["/files/list"] = FileList(root=files)

    def order(sort: str) -> str:
        page = idle.get(f"/files?sort={sort}").text
        return "".join(
            sorted("abc", key=lambda name: page.index(f"/files/file?path=gcode%2F{name}"))
        )

    orders = {sort: order(sort) for sort in ("newest", "name", "largest", "longest", "none")}
    assert orders == {
        "newest": "cab",
        "name": "abc",
        "largest": "bca",
        "longest": "cab",
        "none": "cab",
    }


def test_a_search_finds_files_in_folders_too(idle: Home) -> None:
    inside = entry("Twisted Vase.gcode", folder="gcode/toys")
    root = [entry("cube.gcode"), entry("toys", inside)]
    idle.world.printers.answers["/files/list"] = FileList(root=root)
    page = idle.get("/files?q=vase+TWIST").text

    assert "Twisted Vase.gcode" in page
    assert "in toys" in page
    assert "1 file found" in page
    assert "cube.gcode" not in page
    assert "0 files found" in idle.get("/files?q=nothing").text


def test_script_in_a_search_is_text(idle: Home) -> None:
    page = idle.get("/files?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&sort=%22%3E%3Cscript%3E").text

    assert "<script>alert" not in page


def test_what_it_takes_is_shown_before_a_print(idle: Home) -> None:
    for page in (f"/files/start?path={FILE}", f"/files/file?path={FILE}"):
        shown = idle.get(page).text
        for words in ("1 h 30 min", "PLA, 18.8 g, 6.3 m", "60, 0.2 mm each"):
            assert words in shown
    german = idle.browser.get(f"{idle.path}/files/file?path={FILE}", headers=GERMAN).text
    assert "PLA, 18,8 g, 6,3 m" in german
    assert "60, je 0,2 mm" in german
    assert "PrusaSlicer" in idle.get(f"/files/file?path={FILE}").text
    question = idle.get(f"/files/start?path={FILE}").text
    assert "Is the plate empty?" in question
    assert f'src="{idle.path}/webcam/still"' in question


def test_a_printer_without_a_camera_is_not_looked_at(idle: Home) -> None:
    idle.says(printing(state=State.IDLE, webcams=0))

    assert "webcam/still" not in idle.get(f"/files/start?path={FILE}").text


@pytest.mark.parametrize(
    "details",
    [
        {"EstPrintTimeSec": -1},
        {"EstPrintTimeSec": "<script>"},
        {"LayerHeightMm": 1e300},
        {"Slicer": "x" * 1000},
        {"ModifiedTimeSec": 1e300},
        [],
    ],
)
def test_odd_details_keep_no_print_from_starting(idle: Home, details: object) -> None:
    idle.world.printers.answers["/files/details"] = details
    page = idle.get(f"/files/start?path={FILE}").text

    assert "Start printing" in page
    assert "<script>" not in page


def test_script_in_details_is_text(idle: Home) -> None:
    idle.world.printers.answers["/files/details"] = {
        "FilamentType": "<script>alert(1)</script>",
        "Slicer": "<script>alert(2)</script>",
    }

    assert "<script>alert" not in idle.get(f"/files/file?path={FILE}").text


def test_a_file_shows_its_cost_once_its_owner_has_said_a_price(idle: Home) -> None:
    start = f"/files/start?path={FILE}"
    assert "Cost" not in idle.get(start).text

    send(idle.browser, "/account/filament", price="24,90", currency="EUR")
    assert "0.47 EUR" in idle.get(start).text
    assert 'value="24.90"' in idle.browser.get("/account").text

    send(idle.browser, "/account/filament", price="", currency="EUR")
    assert "Cost" not in idle.get(start).text


def test_a_price_that_is_none_is_told_at_its_field_and_kept(idle: Home) -> None:
    answer = send(idle.browser, "/account/filament", price="<b>much", currency="EUR")

    assert answer.status_code == 400
    assert "Enter a price such as 24.90" in answer.text
    assert 'value="&lt;b&gt;much"' in answer.text


def test_upload_and_print_leads_to_the_question(idle: Home) -> None:
    idle.world.printers.answers["/files/upload"] = FileDone(
        virtual_path="gcode/toys/vase_1.gcode", platform_path="vase_1.gcode"
    )
    answer = idle.browser.post(
        f"{idle.path}/files",
        params={"folder": "gcode/toys", "then": "print"},
        files={"file": ("vase 1.gcode", b"G28")},
        headers={"origin": BASE_URL},
        follow_redirects=False,
    )

    assert answer.status_code == 303
    location = answer.headers["location"]
    assert location == f"{idle.path}/files/start?path=gcode%2Ftoys%2Fvase_1.gcode"
    assert idle.orders == []


@pytest.mark.parametrize(
    ("name", "leads_to"),
    [
        ("part.gcode", "/start?path=gcode%2Fpart.gcode"),
        ("toys/vase.gcode", "/start?path=gcode%2Ftoys%2Fvase.gcode"),
        ("vase.gcode", "/start?path=gcode%2Ftoys%2Fvase.gcode"),
        ("gone.gcode", "?q=gone.gcode"),
    ],
)
def test_an_earlier_print_is_found_again(idle: Home, name: str, leads_to: str) -> None:
    inside = entry("vase.gcode", folder="gcode/toys")
    root = [entry("part.gcode"), entry("toys", inside)]
    idle.world.printers.answers["/files/list"] = FileList(root=root)
    answer = idle.get(f"/files/again?name={name}")

    assert answer.status_code == 303
    assert answer.headers["location"] == f"{idle.path}/files{leads_to}"


@pytest.mark.parametrize(("state", "is_offered"), [(State.COMPLETE, True), (State.PRINTING, False)])
def test_after_a_print_it_can_be_made_again(home: Home, state: State, is_offered: bool) -> None:
    home.says(printing(state=state))

    assert (f"{home.path}/files/again?name=vase.gcode" in home.get().text) is is_offered


def test_of_several_files_of_one_name_none_is_chosen() -> None:
    twice = b"".join(
        b'{"Type":"folder","Name":"%b","VirtualPath":"gcode/%b","Children":[{"Type":"file",'
        b'"Name":"a.gcode","VirtualPath":"gcode/%b/a.gcode"}]},' % (name, name, name)
        for name in (b"x", b"y")
    )
    envelope = b'{"Result":{"Root":[' + twice[:-1] + b"]}}"

    assert find_file(envelope, "a.gcode") is None
    assert find_file(envelope, "y/a.gcode") == "gcode/y/a.gcode"


@pytest.mark.slow
def test_a_page_of_five_thousand_files_is_quick() -> None:
    file = (
        b'{"Type":"file","Name":"part %d.gcode","VirtualPath":"gcode/part %d.gcode","SizeBytes":9,'
        b'"Metadata":{"x":"%b"}}'
    )
    files = b",".join(file % (number, number, b"y" * 1000) for number in range(5_000))
    query = parse_folder_query(None, "part", "name", 3)
    assert query is not None
    begun = time.process_time()
    folder = folder_of(b'{"Result":{"Root":[' + files + b"]}}", query, "octoprint")

    assert time.process_time() - begun < 1.0
    assert folder is not None
    assert (folder.found, len(folder.rows), folder.pages) == (5_000, 200, 25)
