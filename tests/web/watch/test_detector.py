"""Results of failure detection on pages."""

import re
from datetime import timedelta

import pytest
from msgspec import structs

from printreach.contract.events import EventType
from printreach.contract.status import State, WebcamEntry, WebcamList
from printreach.hub.printers.own import SeenPrinter
from printreach.rules.detection.detector import NO_CAMERA
from printreach.rules.detection.scene import ViewCondition
from printreach.rules.watch.choices import WatchSettings
from printreach.web.printers.view import view_of
from printreach.web.watch.chart import MAX_BARS
from printreach.web.watch.view import LOOKED_UP_EVERY, WatchedView
from tests.fakes.printer_http import OFFLINE
from tests.rules.detection.test_jpeg import picture
from tests.web.printers.conftest import Home
from tests.web.prints.test_history import hear, told
from tests.web.watch.detector_form import EVIL, FORM
from tests.web.watch.watching import (
    PRINT,
    a_look,
    answers,
    choose,
    chosen,
    failing,
    picture_of,
    saw,
    saw_before,
    under_watch,
)
from tests.web.world import BASE_URL, run, sign_in

JPEG = picture()


@pytest.fixture
def home(home: Home) -> Home:
    home.says(under_watch(5, 6, 4))
    return home


# --- what was seen --------------------------------------------------------------------------------


def test_the_quick_view_shows_quality_over_time_and_why_it_paused(home: Home) -> None:
    saw(home, *failing(home, paused=True), jpeg=JPEG)
    home.says(under_watch(*[5] * 20, 93, state=State.PAUSED, paused_s=60.0))
    page = home.get()

    assert "Warned at" in page.text
    assert "Paused at" in page.text
    assert "with 94% certainty; at the start of this print, its certainty was 6%" in page.text
    assert "Was this right?" in page.text
    assert '<svg class="evidence"' in page.text
    assert 'class="alarm"' in page.text
    shown = picture_of(home, page)
    assert shown.content == JPEG
    assert "sandbox" in shown.headers["content-security-policy"]


def test_no_certainty_is_whole(home: Home) -> None:
    now = home.world.clock.now()
    looks = [a_look(now - timedelta(minutes=20 - n), 0) for n in range(8)]
    saw(home, *looks, a_look(now, 100, warned=True))

    page = home.get().text
    assert "with over 99% certainty; at the start of this print, its certainty was under 1%" in page


def test_a_print_that_goes_well_asks_nothing(home: Home) -> None:
    saw(home, *failing(home)[:30], jpeg=JPEG)
    page = home.get().text

    assert "Quality from" in page
    assert "Was this right?" not in page
    assert "What failure detection saw" in page


def test_a_camera_that_was_moved_is_said_of_a_warning(home: Home) -> None:
    now = home.world.clock.now()
    calm = [a_look(now - timedelta(minutes=20 - n)) for n in range(10)]
    moved = a_look(now - timedelta(minutes=9), 30, view=ViewCondition.MOVED)
    bad = [a_look(now - timedelta(minutes=8 - n), 90, warned=n == 7) for n in range(8)]
    saw(home, *calm, moved, *bad)

    assert "The camera was moved. That was at" in home.get().text


def test_the_picture_is_shown_as_the_camera_is_turned(home: Home) -> None:
    saw(home, *failing(home), jpeg=JPEG)
    home.says(under_watch(5, camera=WebcamEntry(name="Bed", rotation=90, flip_h=True)))

    assert re.search(r'class="shot flip-h\s+turn-90"', home.get().text)


def test_what_a_printer_says_is_never_markup(home: Home) -> None:
    camera = WebcamEntry(name=EVIL)
    home.says(under_watch(5, print_id=EVIL, file_name=EVIL, camera=camera))
    saw(home, *failing(home), print_id=EVIL, jpeg=JPEG)

    for path in ("", "/detector"):
        page = home.get(path).text
        assert EVIL not in page
        assert "&lt;script&gt;alert(1)" in page
    assert picture_of(home, home.get()).content == JPEG
    home.send("/detector/print", watch="off", print_id=EVIL)
    assert chosen(home).off_for_print == EVIL


@pytest.mark.parametrize(("score", "verdict"), [(5, "Perfect"), (95, "Possible failure")])
def test_in_the_dark_no_page_shows_a_verdict(home: Home, score: int, verdict: str) -> None:
    now = home.world.clock.now()
    dark = [a_look(now - timedelta(minutes=n), score, view=ViewCondition.DARK) for n in (2, 1, 0)]
    saw(home, a_look(now - timedelta(minutes=9), 35), *dark, jpeg=JPEG)
    home.says(under_watch(35, score, cannot_see="dark"))

    for page in (home.get().text, home.browser.get("/printers").text):
        assert verdict not in page
        assert "Too dark to see the print" in page
    page = home.get().text
    assert "It was too dark to see the print." in page  # in the table, at its time
    assert 'class="alarm"' not in page
    assert '<svg class="evidence"' not in page
    assert "Nothing in it stood out" not in page


def test_ten_thousand_looks_are_a_page_of_few_bars(home: Home) -> None:
    now = home.world.clock.now()
    looks = [a_look(now - timedelta(seconds=20 * (10_000 - n)), n % 90) for n in range(10_000)]
    saw(home, looks[-1])
    saw_before(home, looks[:-1])
    page = home.get().text

    chart = page[page.index('<svg class="looks tall"') :]
    assert 0 < chart.count("<rect") <= MAX_BARS
    assert len(page) < 200_000


def test_an_open_page_hears_of_a_new_look_after_some_seconds(home: Home) -> None:
    saw(home, *failing(home)[:30])
    services = home.world.services
    watch = WatchedView(services, home.account_id)

    async def look() -> int:
        seen = await services.own_printers.one(home.account_id, home.printer_id)
        assert isinstance(seen, SeenPrinter)
        await watch.look(seen, view_of(seen, home.world.clock.now()))
        assert watch.shown is not None
        assert watch.shown.chart is not None
        return watch.shown.chart.look_count

    assert run(home.browser, look) == 30
    saw_before(home, [a_look(home.world.clock.now())])
    assert run(home.browser, look) == 30
    home.world.clock.advance(LOOKED_UP_EVERY)
    assert run(home.browser, look) == 31


def test_the_printers_next_owner_sees_nothing_of_it(home: Home) -> None:
    saw(home, *failing(home), jpeg=JPEG)
    choose(home, WatchSettings(keeps_frames=True, warning_level=5))
    home.send("/detector/judgement", print_id=PRINT, was_failure="yes")
    home.send("/remove")
    eve = home.world.add_account(home.browser, "eve@example.org")
    home.add_printer("Workbench", account_id=eve.account_id)
    sign_in(home.browser, "eve@example.org")

    page = home.get().text
    assert "This print" in page
    assert "Quality from" not in page
    assert "Was this right?" not in page
    assert chosen(home) == WatchSettings()
    assert home.get(f"/detector/judged?print={PRINT}").status_code == 404
    assert "No pictures are kept with your answers." in home.get("/detector").text


def test_a_print_that_nobody_looked_at_says_so(home: Home) -> None:
    home.says(under_watch())

    assert "Not checked yet" in home.get().text


def test_a_print_that_has_just_begun_says_when_it_is_first_looked_at(home: Home) -> None:
    home.says(under_watch(duration_s=20))

    assert "First check in about 20 s" in home.get().text


@pytest.mark.parametrize("cameras", [[], [WebcamEntry(name="Bed", enabled=False)]])
def test_where_no_camera_gives_pictures_the_pages_say_that_nothing_is_watched(
    home: Home, cameras: list[WebcamEntry]
) -> None:
    home.says(structs.replace(under_watch(), list_webcams=WebcamList(webcams=cameras)))
    page = home.get().text

    assert NO_CAMERA in page
    assert "Not checked yet" not in page
    assert "First check" not in page
    assert NO_CAMERA in home.get("/detector").text


def test_a_chosen_camera_that_is_gone_is_no_camera(home: Home) -> None:
    choose(home, WatchSettings(camera=1))

    home.says(under_watch())
    assert NO_CAMERA in home.get().text
    choose(home, WatchSettings(camera=0))
    assert NO_CAMERA not in home.get().text


def test_a_printer_that_was_lost_shows_what_was_seen_of_its_print(home: Home) -> None:
    saw(home, *failing(home))
    home.get()
    home.world.clock.advance(timedelta(minutes=4))
    home.world.printers.statuses[home.printer_id] = OFFLINE
    page = home.get().text

    assert "Quality from" in page
    assert "Was this right?" not in page
    assert "Not checked yet" not in page


def test_while_nothing_is_printed_the_quick_view_says_nothing_of_it(home: Home) -> None:
    saw(home, *failing(home))
    home.says(under_watch(5, state=State.COMPLETE))

    assert "Was this right?" not in home.get().text


def test_the_page_of_a_print_tells_what_was_seen_of_it(home: Home) -> None:
    hear(home, told(home, EventType.FAILED, 1, f"{EVIL}.gcode", error=EVIL))
    saw(home, *failing(home), jpeg=JPEG)
    assert f'href="{home.path}/history/print?id=print-1"' in home.get("/history").text
    page = home.get("/history/print?id=print-1")

    for words in ("Quality from", "Warned at", "Was this right?"):
        assert words in page.text
    assert picture_of(home, page).content == JPEG
    assert EVIL not in page.text


def test_a_print_that_is_unknown_has_no_page(home: Home) -> None:
    for print_id in ("", "print-2", EVIL, "%00", "a" * 3000):
        assert home.get(f"/history/print?id={print_id}").status_code == 404


# --- who is refused -------------------------------------------------------------------------------

PAGES = ["/detector", f"/history/print?id={PRINT}", f"/detector/judged?print={PRINT}"]
FORMS = ["/detector", "/detector/print", "/detector/judgement", "/detector/forget"]
FIELDS = FORM | {"print_id": PRINT, "watch": "off", "was_failure": "no", "which": "all"}


@pytest.mark.parametrize("path", PAGES)
def test_pages_of_another_accounts_printer_are_as_of_one_that_does_not_exist(
    home: Home, bobs_printer: str, path: str
) -> None:
    def ask(printer_id: str) -> tuple[int, str]:
        answer = home.browser.get(f"/printers/{printer_id}{path}")
        return answer.status_code, answer.text

    assert ask(bobs_printer) == ask("a" * 32)
    assert ask(bobs_printer)[0] == 404


@pytest.mark.parametrize("path", FORMS)
def test_forms_for_another_accounts_printer_change_nothing(
    home: Home, bobs_printer: str, path: str
) -> None:
    mine = home.printer_id
    home.printer_id = bobs_printer
    answer = home.send(path, **FIELDS)

    assert answer.status_code == 404
    assert chosen(home) == WatchSettings()
    home.printer_id = mine


@pytest.mark.parametrize("path", FORMS)
def test_a_form_of_a_printers_page_changes_nothing(home: Home, path: str) -> None:
    saw(home, *failing(home))
    origin = {"origin": "https://own-abc.tunnel.example"}
    answer = home.browser.post(home.path + path, data=FIELDS, headers=origin)

    assert answer.status_code == 403
    assert chosen(home) == WatchSettings()
    assert answers(home) == []


@pytest.mark.parametrize(
    "query",
    ["", "?print=print-1", "?print=print-1&at=1", "?print=print-1&at=-1", "?at=99999999999999999",
     f"?print=print-1&at={'9' * 400}", "?print=print-1&at=nan", "?print=..%2F..&at=%00"],
)  # fmt: skip
def test_a_guessed_picture_is_not_found(home: Home, query: str) -> None:
    saw(home, *failing(home), jpeg=JPEG)

    assert home.get(f"/detector/picture{query}").status_code == 404


def test_a_large_form_is_refused(home: Home) -> None:
    answer = home.browser.post(
        f"{home.path}/detector", data={"enabled": "x" * 100_000}, headers={"origin": BASE_URL}
    )

    assert answer.status_code == 413
