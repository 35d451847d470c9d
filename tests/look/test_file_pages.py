"""Files of a printer in a browser: rows on phones, pictures, questions in place, dropped files."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.files import EntryType, FileEntry, FileList
from printreach.contract.status import State
from tests.look.gallery import forward, stay
from tests.look.test_narrow_pages import broken_words
from tests.look.test_webhook_pages import home
from tests.printers.sliced import picture
from tests.rigs.looks import look_at
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_file_pages import DETAILS, FILE
from tests.web.world import BASE_URL

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NAMES = [
    "drawer handle for the kitchen.gcode",
    "cable_tray_x4_PETG_0.2mm.gcode",
    "a_very_long_name_without_a_blank_that_has_to_break_somewhere_0.2mm_PETG_MK4.gcode",
    "notes.txt",
]
BUTTONS_IN_ONE_LINE = """() => [...document.querySelectorAll(".table.files .buttons")].every(
    row => new Set([...row.children].filter(button => button.getClientRects().length)
        .map(button => Math.round(button.getBoundingClientRect().top))).size <= 1
)"""
FITS = "document.documentElement.scrollWidth <= innerWidth"
DROP = """() => {
    const data = new DataTransfer();
    data.items.add(new File(["G28"], "dropped.gcode"));
    const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    document.body.dispatchEvent(drop);
}"""


def file(name: str) -> FileEntry:
    path = f"gcode/{name}"
    return FileEntry(
        type=EntryType.FILE,
        name=name,
        virtual_path=path,
        path=path,
        platform_path=name,
        size_bytes=1_400_000,
        modified_time_sec=1e9,
        est_print_time_sec=92_000,
        est_filament_weight_mg=184_000,
        thumbnail_count=1 if "PETG" in name else 0,
    )


@pytest.fixture
def files(page: Page, home: Home) -> Page:
    """A page of a browser that is signed in, with a printer that has files."""
    home.says(printing(state=State.IDLE))
    printers = home.world.printers
    printers.answers["/files/list"] = FileList(root=[file(name) for name in [*NAMES, "part.gcode"]])
    printers.answers["/files/details"] = DETAILS
    printers.raw["/files/thumbnail"] = ("image/png", picture(220))
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    for endless in ("**/events*", "**/webcam/**"):
        page.route(endless, stay)
    return page


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_names_stay_whole_and_rows_are_alike(
    files: Page, home: Home, width: int
) -> None:
    files.set_viewport_size({"width": width, "height": 700})
    files.goto(f"{BASE_URL}{home.path}/files")

    assert broken_words(files, ".of-file a") == []
    assert broken_words(files, ".table.files .button") == []
    assert files.evaluate(BUTTONS_IN_ONE_LINE)
    assert files.evaluate(FITS)
    expect(files.get_by_role("link", name="Print notes.txt")).to_have_count(0)


def test_the_page_of_a_file_is_accessible_and_fits(files: Page, home: Home) -> None:
    files.goto(f"{BASE_URL}{home.path}/files/file?path={FILE}")
    expect(files.get_by_role("heading", level=2, name="part.gcode")).to_be_visible()

    look_at(files, "file")


def test_the_question_before_a_print_opens_in_place(files: Page, home: Home) -> None:
    files.goto(f"{BASE_URL}{home.path}/files")
    files.get_by_role("link", name="Print part.gcode").click()
    dialog = files.get_by_role("dialog", name="Print part.gcode?")

    expect(dialog).to_contain_text("1 h 30 min")
    expect(dialog).to_contain_text("Is the plate empty?")
    expect(dialog.get_by_role("link", name="Not now")).to_be_focused()
    look_at(files, "file-question")
    dialog.get_by_role("link", name="Not now").click()
    expect(dialog).to_have_count(0)
    expect(files).to_have_url(f"{BASE_URL}{home.path}/files")
    assert home.orders == []


def test_the_plate_is_seen_above_the_answer_on_a_phone_on_its_side(files: Page, home: Home) -> None:
    files.set_viewport_size({"width": 844, "height": 390})
    files.goto(f"{BASE_URL}{home.path}/files")
    files.get_by_role("link", name="Print part.gcode").click()
    seen = files.get_by_text("Is the plate empty?").bounding_box()
    picture = files.locator("dialog .bed .webcam").bounding_box()
    answer = files.locator("dialog .decision").bounding_box()

    assert seen is not None
    assert picture is not None
    assert answer is not None
    assert picture["height"] > 100
    assert seen["y"] + seen["height"] <= answer["y"]
    assert answer["y"] + answer["height"] <= 390


def test_a_print_starts_from_the_question_in_place(files: Page, home: Home) -> None:
    home.world.printers.effects["/start"] = printing()
    files.goto(f"{BASE_URL}{home.path}/files")
    files.get_by_role("link", name="Print part.gcode").click()
    files.get_by_role("dialog").get_by_role("button", name="Start printing").click()

    expect(files).to_have_url(f"{BASE_URL}{home.path}")
    assert [ordered.command for ordered in home.orders] == ["/start"]


def test_where_nothing_can_be_asked_the_link_leads_to_the_reason(files: Page, home: Home) -> None:
    files.goto(f"{BASE_URL}{home.path}/files")
    home.world.printers.answers["/files/list"] = FileList(root=[])
    files.evaluate(
        "document.querySelector('a[data-question]').href = location.pathname + '/again?name=gone'"
    )
    files.locator("a[data-question]").first.click()

    expect(files).to_have_url(f"{BASE_URL}{home.path}/files?q=gone")


def test_a_thumbnail_stands_where_the_drawing_was(files: Page, home: Home) -> None:
    files.goto(f"{BASE_URL}{home.path}/files")

    expect(files.locator(".thumbnail.is-shown")).to_have_count(2)
    expect(files.locator(".thumbnail img")).to_have_count(2)


def test_without_a_thumbnail_the_drawing_stays(files: Page, home: Home) -> None:
    home.world.printers.raw.clear()
    files.goto(f"{BASE_URL}{home.path}/files")

    expect(files.locator(".thumbnail img")).to_have_count(0)
    expect(files.locator(".thumbnail .icon").first).to_be_visible()


def test_a_dropped_file_is_chosen_and_its_buttons_say_what_becomes_of_it(
    files: Page, home: Home
) -> None:
    files.goto(f"{BASE_URL}{home.path}/files")
    files.evaluate(DROP)

    chosen = "document.querySelector('#upload').files[0].name"
    assert files.evaluate(chosen) == "dropped.gcode"
    expect(files.get_by_role("button", name="Upload", exact=True)).to_be_focused()


def test_upload_and_print_sends_its_own_address(files: Page, home: Home) -> None:
    files.goto(f"{BASE_URL}{home.path}/files")
    files.evaluate(DROP)
    with files.expect_request(lambda request: request.method == "POST") as sent:
        files.get_by_role("button", name="Upload and print").click()

    assert sent.value.url == f"{BASE_URL}{home.path}/files?folder=gcode&then=print"


def test_a_file_of_a_known_name_is_sent_once_its_replacement_is_confirmed(
    files: Page, home: Home, tmp_path: Path
) -> None:
    new = tmp_path / "part.gcode"
    new.write_text("G28")
    files.goto(f"{BASE_URL}{home.path}/files")
    files.set_input_files("#upload", new)
    files.get_by_role("button", name="Upload", exact=True).click()
    question = files.get_by_role("dialog", name="Replace part.gcode?")
    expect(question).to_be_visible()
    expect(question).not_to_contain_text("UTC")
    look_at(files, "replace-question")
    assert home.world.printers.uploads == {}

    with files.expect_response(lambda answer: answer.request.method == "POST") as answered:
        question.get_by_role("button", name="Replace").click()

    assert answered.value.url.endswith("/files?folder=gcode&replace=part.gcode")
