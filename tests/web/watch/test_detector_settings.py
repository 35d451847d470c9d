"""The owner's settings of failure detection, and the errors of invalid ones."""

import secrets
from datetime import timedelta
from functools import partial

import pytest

from printreach.contract.status import WebcamEntry
from printreach.hub.print_mails import mail_destination
from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch.background import CameraBackground
from printreach.rules.watch.choices import Region, WatchPause, WatchSettings
from printreach.web.watch.view import LOOKED_UP_EVERY
from tests.fakes.printer_http import OFFLINE
from tests.web.printers.conftest import Home
from tests.web.watch.detector_form import BOX, EVIL, FORM
from tests.web.watch.watching import PRINT, chosen, failing, saw, under_watch
from tests.web.world import run, send


@pytest.fixture
def home(home: Home) -> Home:
    home.says(under_watch(5, 6, 4))
    return home


# --- settings -------------------------------------------------------------------------------------


def test_what_nobody_chose_is_to_look_and_only_warn(home: Home) -> None:
    page = home.get("/detector").text

    assert 'id="enabled" name="enabled" value="yes" checked' in page
    assert 'value="no" checked' in page
    assert f'href="{home.path}/detector"' in home.get("/settings").text


def test_where_nobody_would_hear_of_a_warning_the_pages_say_so(home: Home) -> None:
    words = 'href="/notifications">Set up notifications'
    told_nowhere = [words in home.get(page).text for page in ("", "/detector")]
    send(home.browser, "/notifications/add", way="ntfy", topic="t", server="", token="")
    home.world.clock.advance(LOOKED_UP_EVERY)
    told = [words in home.get(page).text for page in ("", "/detector")]
    send(home.browser, "/notifications/events", **{"event-2": "yes"})
    chose_no_warnings = [words in home.get(page).text for page in ("", "/detector")]

    assert told_nowhere == chose_no_warnings == [True, True]
    assert told == [False, False]


def test_a_mail_address_without_a_mail_server_is_no_place_where_a_warning_is_heard(
    home: Home,
) -> None:
    place = mail_destination(secrets.token_bytes, home.account_id, home.world.clock.now())
    add = partial(
        home.world.store.write, lambda records: records.notifications.add_destination(place)
    )
    run(home.browser, add)

    assert "be notified. <a" in home.get("").text
    assert (
        "You haven\u2019t chosen where warnings go, so none would reach you."
        in home.get("/detector").text
    )


def test_what_is_chosen_is_kept_and_shown_again(home: Home) -> None:
    answer = home.send("/detector", **FORM, **BOX, keeps_frames="yes")

    assert answer.headers["location"] == f"{home.path}/detector"
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
    assert "Failure detection is switched off." in home.get().text


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
        ({"region-1-left": "nan"}, "Box 1: enter numbers from 0 to 100."),
        ({"region-1-top": "inf"}, "Box 1: enter numbers from 0 to 100."),
        ({"region-1-width": "1e308"}, "Box 1: enter numbers from 0 to 100."),
        ({"region-1-height": ""}, "Box 1: enter numbers from 0 to 100."),
        ({"region-1-width": "0"}, "Box 1 has no width or no height."),
        ({"region-1-height": "1e-300"}, "Box 1 has no width or no height."),
        ({"region-1-width": "91"}, "Box 1 sticks out at the right of the picture."),
        ({"region-1-height": "80.2"}, "Box 1 sticks out at the bottom of the picture."),
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
        for number in range(1, 20)
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
    assert "Camera 2, not available now" in home.get("/detector").text


def test_a_false_alarm_is_said_to_count(home: Home) -> None:
    saw(home, *failing(home))
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    assert "it warns one step later" in home.get("/detector").text


def test_the_settings_are_in_the_words_of_people(home: Home) -> None:
    page = home.get("/detector").text

    assert "prints</span>" in page.partition('name="enabled"')[2].partition("</label>")[0]
    assert "Ignore parts of the picture" in page
    assert "Look at the prints" not in page
    assert "Leave out" not in page


# --- off for this print ---------------------------------------------------------------------------


def test_a_print_can_be_left_alone_and_looked_at_again(home: Home) -> None:
    off = home.send("/detector/print", watch="off", print_id=PRINT)
    assert off.headers["location"] == home.path
    assert chosen(home).off_for_print == PRINT
    assert "Off for this print" in home.get().text
    assert "off for the current print" in home.get("/detector").text

    home.send("/detector/print", watch="on", print_id=PRINT, back="settings")
    assert chosen(home).off_for_print == ""
    assert "Watch this print" not in home.get().text


def test_the_next_print_is_looked_at(home: Home) -> None:
    home.send("/detector/print", watch="off", print_id=PRINT)
    home.world.clock.advance(timedelta(minutes=1))
    home.says(under_watch(5, print_id="print-2"))

    assert "Off for this print" not in home.get().text


@pytest.mark.parametrize("print_id", ["", "x" * 65])
def test_a_print_without_a_sane_id_is_none_to_leave_alone(home: Home, print_id: str) -> None:
    assert home.send("/detector/print", watch="off", print_id=print_id).status_code == 400
    assert chosen(home).off_for_print == ""


def test_pictures_are_given_only_from_when_the_owner_agreed_until_it_is_taken_back(
    home: Home,
) -> None:
    before = chosen(home)
    home.send("/detector", **FORM, keeps_frames="yes", gives_pictures="yes")
    agreed = chosen(home)
    home.send("/detector", **FORM, keeps_frames="yes")

    assert (before.gives_pictures, before.given_since) == (False, None)
    assert (agreed.gives_pictures, agreed.given_since) == (True, home.world.clock.now())
    assert (chosen(home).gives_pictures, chosen(home).given_since) == (False, None)


# --- what a camera has learnt ---------------------------------------------------------------------


def test_the_page_says_what_a_camera_has_learnt_and_forgets_it(home: Home) -> None:
    known = CameraBackground(prints=4, places=((-1.0,),))
    printer = OwnedPrinter(home.printer_id, home.account_id)
    store = home.world.store
    nothing = home.get("/detector").text
    run(home.browser, lambda: store.write(lambda r: r.watch_backgrounds.put(printer, 0, known)))

    assert "No print has ended well yet." in nothing
    assert "/detector/learnt" not in nothing
    assert "New prints are compared with 4 that ended well." in home.get("/detector").text

    home.send("/detector/learnt")

    assert "No print has ended well yet." in home.get("/detector").text
