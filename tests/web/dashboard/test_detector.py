"""The pages of failure detection: its settings, what it saw, and what its owner says of it."""

import re
from datetime import timedelta

import pytest
from httpx import Response

from printreach.contract.events import EventType
from printreach.contract.status import State, WebcamEntry
from printreach.hub.own_printers import SeenPrinter
from printreach.rules.detection_scene import View
from printreach.rules.snapshots import KEPT_FOR
from printreach.rules.watching import Region, WatchPause, WatchSettings
from printreach.web.dashboard.printer_view import view_of
from printreach.web.dashboard.watch_chart import MOST_BARS
from printreach.web.dashboard.watched_view import LOOKED_UP_EVERY, WatchedView
from tests.fakes.printer_http import OFFLINE
from tests.rules.test_jpeg import picture
from tests.web.dashboard.conftest import Home
from tests.web.dashboard.watching import (
    PRINT,
    a_look,
    answers,
    choose,
    chosen,
    failing,
    saw,
    saw_before,
    under_watch,
)
from tests.web.history.test_history import hear, told
from tests.web.world import BASE_URL, run, sign_in

JPEG = picture()
EVIL = "<script>alert(1)</script>"
FORM = {
    "enabled": "yes",
    "camera": "",
    "warning_level": "2",
    "pauses": "yes",
    "pause_level": "4",
    "disable_hotend": "yes",
    "z_lift": "5",
    "retract": "2",
    "pose": "0",
}
BOX = {
    "region-1-left": "10",
    "region-1-top": "20",
    "region-1-width": "30",
    "region-1-height": "40",
}


@pytest.fixture
def home(home: Home) -> Home:
    home.says(under_watch(5, 6, 4))
    return home


def picture_of(home: Home, page: Response) -> Response:
    """The picture that a page shows of what was seen."""
    found = re.search(r'src="([^"]*/detector/(?:picture|judged)[^"]*)"', page.text)
    assert found is not None
    return home.browser.get(found[1].replace("&amp;", "&"))


# --- settings -------------------------------------------------------------------------------------


def test_what_nobody_chose_is_to_look_and_only_warn(home: Home) -> None:
    page = home.get("/detector").text

    assert 'id="enabled" name="enabled" value="yes" checked' in page
    assert 'value="no" checked' in page
    assert f'href="{home.path}/detector"' in home.get("/settings").text


def test_what_is_chosen_is_kept_and_shown_again(home: Home) -> None:
    answer = home.send("/detector", **FORM, **BOX, keeps_frames="yes")

    assert answer.headers["location"] == f"{home.path}/detector?said=detector"
    assert chosen(home) == WatchSettings(
        warning_level=2,
        pause_level=4,
        pauses=WatchPause(z_lift_mm=5, retract_filament_mm=2),
        masked=(Region(0.1, 0.2, 0.4, 0.6),),
        keeps_frames=True,
    )
    page = home.get("/detector").text
    for value in BOX.values():
        assert f'value="{value}"' in page
    assert '<option value="4" selected>' in page


def test_an_unticked_form_switches_it_off(home: Home) -> None:
    fields = {name: value for name, value in FORM.items() if name != "enabled"}
    home.send("/detector", **fields | {"pauses": "no"})

    assert not chosen(home).enabled
    assert chosen(home).pauses is None
    assert "t look at this printer</b>" in home.get().text


def test_choosing_does_not_forget_which_print_is_left_alone(home: Home) -> None:
    home.send("/detector/print", watch="off", print_id=PRINT)
    home.send("/detector", **FORM)

    assert chosen(home).off_for_print == PRINT


def test_a_box_on_a_picture_that_is_shown_turned_is_kept_as_the_camera_takes_it(home: Home) -> None:
    home.says(under_watch(5, camera=WebcamEntry(name="Bed", rotation=180)))
    page = home.get("/detector").text
    assert 'name="pose" value="180"' in page
    home.send("/detector", **FORM | {"pose": "180"}, **BOX)

    assert chosen(home).masked == (Region(0.6, 0.4, 0.9, 0.8),)
    for value in BOX.values():
        assert f'value="{value}"' in home.get("/detector").text


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"warning_level": "6"}, "Choose a level from 1 to 5."),
        ({"pause_level": ""}, "Choose a level from 1 to 5."),
        ({"pauses": "perhaps"}, "Choose whether it may pause."),
        ({"z_lift": "51"}, "The lift is a whole number of mm, 0 to 50."),
        ({"z_lift": "-1"}, "The lift is a whole number of mm, 0 to 50."),
        ({"retract": "1.5"}, "How far filament is pulled back is a whole number"),
        ({"retract": "9" * 5000}, "How far filament is pulled back is a whole number"),
        ({"camera": "1"}, "The printer has no such camera."),
        ({"camera": "\u0663"}, "The printer has no such camera."),
        ({"region-1-left": "nan"}, "Region 1: left is a number from 0 to 100."),
        ({"region-1-top": "inf"}, "Region 1: top is a number from 0 to 100."),
        ({"region-1-width": "1e308"}, "Region 1: width is a number from 0 to 100."),
        ({"region-1-height": ""}, "Region 1: height is a number from 0 to 100."),
        ({"region-1-width": "0"}, "Region 1 has no width or no height."),
        ({"region-1-height": "1e-300"}, "Region 1 has no width or no height."),
        ({"region-1-width": "91"}, "Region 1 sticks out at the right of the picture."),
        ({"region-1-height": "80.2"}, "Region 1 sticks out at the bottom of the picture."),
    ],
)
def test_what_can_not_be_is_told_at_its_field_and_nothing_is_changed(
    home: Home, fields: dict[str, str], sentence: str
) -> None:
    answer = home.send("/detector", **FORM | BOX | fields)

    assert answer.status_code == 400
    assert sentence in answer.text
    assert f'href="#{next(iter(fields))}"' in answer.text
    assert chosen(home) == WatchSettings()


def test_a_wrong_form_keeps_what_was_typed(home: Home) -> None:
    answer = home.send("/detector", **FORM | BOX | {"region-1-left": EVIL, "z_lift": "7"})

    assert 'value="7"' in answer.text
    assert 'value="20"' in answer.text
    assert EVIL not in answer.text


def test_more_boxes_than_eight_are_not_read(home: Home) -> None:
    boxes = {
        f"region-{number}-{edge}": "10"
        for number in range(1, 200)
        for edge in ("left", "top", "width", "height")
    }
    home.send("/detector", **FORM, **boxes)

    assert len(chosen(home).masked) == 8


def test_numbers_of_other_countries_are_read(home: Home) -> None:
    home.send("/detector", **FORM | BOX | {"region-1-left": " 10,5 % "})

    assert chosen(home).masked[0].left == pytest.approx(0.105)


def test_the_camera_of_a_printer_that_is_away_can_still_be_chosen(home: Home) -> None:
    home.world.printers.statuses[home.printer_id] = OFFLINE
    home.send("/detector", **FORM | {"camera": "1"})

    assert chosen(home).camera == 1
    assert "Camera 2, not here now" in home.get("/detector").text


def test_a_false_alarm_is_said_to_count(home: Home) -> None:
    saw(home, *failing(home))
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    assert "it warns a step later" in home.get("/detector").text


# --- off for this print ---------------------------------------------------------------------------


def test_a_print_can_be_left_alone_and_looked_at_again(home: Home) -> None:
    off = home.send("/detector/print", watch="off", print_id=PRINT)
    assert off.headers["location"] == f"{home.path}?said=detector-off"
    assert chosen(home).off_for_print == PRINT
    assert "Off for this print</b>" in home.get().text
    assert "off for the print under way" in home.get("/detector").text

    home.send("/detector/print", watch="on", print_id=PRINT, back="settings")
    assert chosen(home).off_for_print == ""
    assert "Look at this print again" not in home.get().text


def test_the_next_print_is_looked_at(home: Home) -> None:
    home.send("/detector/print", watch="off", print_id=PRINT)
    home.world.clock.advance(timedelta(minutes=1))
    home.says(under_watch(5, print_id="print-2"))

    assert "Off for this print</b>" not in home.get().text


@pytest.mark.parametrize("print_id", ["", "x" * 65])
def test_a_print_without_a_sane_id_is_none_to_leave_alone(home: Home, print_id: str) -> None:
    assert home.send("/detector/print", watch="off", print_id=print_id).status_code == 400
    assert chosen(home).off_for_print == ""


# --- what was seen --------------------------------------------------------------------------------


def test_the_quick_view_shows_quality_over_time_and_why_it_paused(home: Home) -> None:
    saw(home, *failing(home, paused=True), jpeg=JPEG)
    home.says(under_watch(*[5] * 20, 93, state=State.PAUSED, paused_s=60.0))
    page = home.get()

    assert "Warned at" in page.text
    assert "Paused at" in page.text
    assert "with 94% certainty; in the first pictures of this print it was 6%" in page.text
    assert "Was this right?" in page.text
    assert '<svg class="evidence"' in page.text
    assert 'class="alarm"' in page.text
    shown = picture_of(home, page)
    assert shown.content == JPEG
    assert "sandbox" in shown.headers["content-security-policy"]


def test_a_print_that_goes_well_asks_nothing(home: Home) -> None:
    saw(home, *failing(home)[:30], jpeg=JPEG)
    page = home.get().text

    assert "Quality from" in page
    assert "Was this right?" not in page
    assert "What failure detection saw" in page


def test_a_camera_that_was_moved_is_said_of_a_warning(home: Home) -> None:
    now = home.world.clock.now()
    calm = [a_look(now - timedelta(minutes=20 - n)) for n in range(10)]
    moved = a_look(now - timedelta(minutes=9), 30, view=View.MOVED)
    bad = [a_look(now - timedelta(minutes=8 - n), 90, warned=n == 7) for n in range(8)]
    saw(home, *calm, moved, *bad)

    assert "The camera was moved. That was at" in home.get().text


def test_the_picture_is_shown_as_the_camera_is_turned(home: Home) -> None:
    saw(home, *failing(home), jpeg=JPEG)
    home.says(under_watch(5, camera=WebcamEntry(name="Bed", rotation=90, flip_h=True)))

    assert re.search(r'class="shot flip-h\s+turn-90"', home.get().text)


def test_ten_thousand_looks_are_a_page_of_few_bars(home: Home) -> None:
    now = home.world.clock.now()
    looks = [a_look(now - timedelta(seconds=20 * (10_000 - n)), n % 90) for n in range(10_000)]
    saw(home, looks[-1])
    saw_before(home, looks[:-1])
    page = home.get().text

    chart = page[page.index('<svg class="looks tall"') :]
    assert 0 < chart.count("<rect") <= MOST_BARS
    assert len(page) < 200_000


def test_an_open_page_hears_of_a_new_look_after_some_seconds(home: Home) -> None:
    saw(home, *failing(home)[:30])
    dashboard = home.world.services.dashboard
    watch = WatchedView(dashboard, home.account_id)

    async def look() -> int:
        seen = await dashboard.printers.one(home.account_id, home.printer_id)
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


def test_who_gets_the_printer_next_sees_nothing_of_it(home: Home) -> None:
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
    assert "No picture is kept with an answer." in home.get("/detector").text


def test_a_print_that_nobody_looked_at_says_so(home: Home) -> None:
    home.says(under_watch())

    assert "Failure detection has not looked at this print." in home.get().text
    assert "Not looked yet" in home.get().text


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
    for print_id in ("", "print-2", EVIL, "%00", "a" * 5000):
        assert home.get(f"/history/print?id={print_id}").status_code == 404


# --- was this right? ------------------------------------------------------------------------------


def test_an_answer_is_kept_without_the_picture_unless_that_was_agreed_to(home: Home) -> None:
    saw(home, *failing(home), jpeg=JPEG)
    answer = home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    assert answer.headers["location"] == f"{home.path}?said=judged"
    assert [(one.was_failure, one.picture) for one in answers(home)] == [(False, None)]
    assert "You said: no, the print was fine" in home.get().text


def test_an_answer_can_be_changed_from_the_page_of_the_print(home: Home) -> None:
    hear(home, told(home, EventType.STARTED, 1))
    saw(home, *failing(home))
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")
    answer = home.send("/detector/judgement", print_id=PRINT, was_failure="yes", back="print")

    assert answer.headers["location"] == f"{home.path}/history/print?id=print-1&said=judged"
    assert [one.was_failure for one in answers(home)] == [True]


def test_a_picture_kept_with_an_answer_is_shown_for_longer_and_deleted_at_once(home: Home) -> None:
    hear(home, told(home, EventType.STARTED, 1))
    saw(home, *failing(home), jpeg=JPEG)
    choose(home, WatchSettings(keeps_frames=True))
    home.send("/detector/judgement", print_id=PRINT, was_failure="yes")
    home.world.clock.advance(KEPT_FOR)
    assert picture_of(home, home.get("/detector")).content == JPEG
    assert picture_of(home, home.get("/history/print?id=print-1")).content == JPEG

    home.send("/detector/forget", which="one", print_id=PRINT)

    assert "No picture is kept with an answer." in home.get("/detector").text
    assert home.get(f"/detector/judged?print={PRINT}").status_code == 404
    assert [one.was_failure for one in answers(home)] == [True]
    assert "What failure detection saw" not in home.get("/history/print?id=print-1").text


def test_all_kept_pictures_can_be_deleted_together(home: Home) -> None:
    choose(home, WatchSettings(keeps_frames=True))
    for number in (1, 2):
        saw(home, *failing(home), print_id=f"print-{number}", jpeg=JPEG)
        home.send("/detector/judgement", print_id=f"print-{number}", was_failure="yes")
    assert "Delete all 2" in home.get("/detector").text

    home.send("/detector/forget", which="all")

    assert [one.picture for one in answers(home)] == [None, None]


def test_a_print_without_an_alarm_is_not_judged(home: Home) -> None:
    saw(home, *failing(home)[:20])

    for print_id in (PRINT, "another", "", EVIL):
        answer = home.send("/detector/judgement", print_id=print_id, was_failure="no")
        assert answer.status_code == 404
    assert answers(home) == []


def test_an_answer_is_yes_or_no(home: Home) -> None:
    saw(home, *failing(home))

    answer = home.send("/detector/judgement", print_id=PRINT, was_failure="maybe")

    assert answer.status_code == 400


def test_kept_answers_are_in_ones_own_data(home: Home) -> None:
    saw(home, *failing(home), jpeg=JPEG)
    choose(home, WatchSettings(keeps_frames=True))
    home.send("/detector/judgement", print_id=PRINT, was_failure="yes")
    rows = home.browser.get("/account/export").json()["Rows"]

    assert [one["print_id"] for one in rows["watch_judgements"]] == [PRINT]
    assert rows["watch_settings"][0]["content"]["keeps_frames"] is True
    assert len(rows["watch_looks"]) == 68


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
def test_a_guessed_picture_is_none(home: Home, query: str) -> None:
    saw(home, *failing(home), jpeg=JPEG)

    assert home.get(f"/detector/picture{query}").status_code == 404


def test_a_large_form_is_refused(home: Home) -> None:
    answer = home.browser.post(
        f"{home.path}/detector", data={"enabled": "x" * 100_000}, headers={"origin": BASE_URL}
    )

    assert answer.status_code == 413
