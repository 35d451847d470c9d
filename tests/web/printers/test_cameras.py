"""The owner sets names, rotations and flips of cameras; everybody who looks sees them so."""

from html import unescape

import pytest
from httpx import Response
from msgspec.structs import replace

from printreach.contract.cameras import MAX_CAMERA_CHOICES
from printreach.contract.status import StatusResult, WebcamEntry, WebcamList
from printreach.hub.connections.live_links import LiveWish
from printreach.rules.printers.members import Role
from tests.web.connections.conftest import make_link
from tests.web.printers.conftest import Home, printing
from tests.web.printers.members import CLEO, browser_of, let_in
from tests.web.world import send


def with_cameras(*cameras: WebcamEntry) -> StatusResult:
    return replace(printing(), list_webcams=WebcamList(webcams=list(cameras)))


def form(index: int, key: str, **fields: str) -> dict[str, str]:
    values = {"key": key, "name": "", "rotation": "0", **fields}
    return {f"camera-{index}-{name.replace('_', '-')}": value for name, value in values.items()}


def save(home: Home, *forms: dict[str, str]) -> Response:
    return home.send("/cameras", **{name: value for each in forms for name, value in each.items()})


@pytest.fixture
def cameras(home: Home) -> Home:
    home.says(with_cameras(WebcamEntry(name="Over", flip_h=True), WebcamEntry(name="Nozzle")))
    return home


def image(page: str) -> str:
    """Return the beginning of the large picture's element."""
    return page.partition('<img class="')[2].partition('"')[0].strip()


def test_a_picture_is_turned_and_flipped_as_its_owner_chose(cameras: Home) -> None:
    assert image(cameras.get().text) == "flip-h"

    answer = save(cameras, form(0, "Over", rotation="90", flip_v="yes"), form(1, "Nozzle"))

    assert answer.headers["location"] == f"{cameras.path}/settings"
    for path in ("", "/control"):
        assert image(cameras.get(path).text).split() == ["flip-v", "turn-90"]
    assert image(cameras.browser.get("/printers").text).split() == ["flip-v", "turn-90"]


def test_a_camera_has_the_name_that_its_owner_chose_everywhere(cameras: Home) -> None:
    save(cameras, form(0, "Over", flip_h="yes"), form(1, "Nozzle", name="At the tip"))

    for path in ("", "/detector", "/settings"):
        assert "At the tip" in cameras.get(path).text
    assert "Nozzle" not in cameras.get().text
    assert "Leave it empty for “Nozzle”." in unescape(cameras.get("/settings").text)


def test_what_the_platform_tells_comes_back_as_the_name_is_emptied(cameras: Home) -> None:
    save(cameras, form(1, "Nozzle", name="At the tip", rotation="180"))
    save(cameras, form(1, "Nozzle", name=""))

    assert "Nozzle" in cameras.get().text
    assert "turn-180" not in cameras.get("?camera=1").text


def test_a_live_link_shows_the_picture_as_its_owner_chose(cameras: Home) -> None:
    link = make_link(cameras, LiveWish())
    save(cameras, form(0, "Over", rotation="270"))

    page = cameras.browser.get(f"/live/{link.live_id}").text

    assert image(page) == "turn-270"


def test_masks_turn_with_the_picture(cameras: Home) -> None:
    save(cameras, form(0, "Over", rotation="90"))

    assert 'data-rotation="90"' in cameras.get("/detector").text


def test_a_form_for_a_camera_that_is_no_longer_there_changes_nothing(cameras: Home) -> None:
    save(cameras, form(0, "Gone", rotation="90"))

    assert image(cameras.get().text) == "flip-h"


def test_a_name_that_is_none_is_told_at_its_field_and_kept(cameras: Home) -> None:
    answer = save(cameras, form(0, "Over", name="x" * 61, rotation="90"))

    assert answer.status_code == 400
    assert "up to 60 characters, none of them invisible" in answer.text
    assert 'id="camera-0-name-fault"' in answer.text
    assert "x" * 61 in answer.text
    assert image(cameras.get().text) == "flip-h"


def test_more_cameras_than_can_be_set_are_refused(home: Home) -> None:
    names = [f"cam{n}" for n in range(MAX_CAMERA_CHOICES + 1)]
    home.says(with_cameras(*(WebcamEntry(name=name) for name in names)))

    answer = save(home, *(form(n, name, rotation="90") for n, name in enumerate(names)))

    assert answer.status_code == 400
    assert f"up to {MAX_CAMERA_CHOICES} cameras of a printer" in answer.text


def test_a_member_sees_the_owners_choice_and_cannot_change_it(cameras: Home) -> None:
    save(cameras, form(0, "Over", rotation="90"))
    let_in(cameras, CLEO, Role.CONTROL)

    with browser_of(cameras, CLEO) as cleo:
        page = cleo.get(cameras.path).text
        answer = send(cleo, f"{cameras.path}/cameras", **form(0, "Over", rotation="180"))

    assert image(page) == "turn-90"
    assert "Camera settings" not in page
    assert answer.status_code in (403, 404)
    assert image(cameras.get().text) == "turn-90"


def test_a_printer_that_is_linked_again_begins_without_choices(cameras: Home) -> None:
    save(cameras, form(0, "Over", rotation="90"))
    cameras.send("/remove")

    cameras.printer_id = cameras.add_printer("Workbench")

    assert image(cameras.get().text) == "flip-h"
