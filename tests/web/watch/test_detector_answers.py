"""The owner's judgement of an alarm, and how it is stored."""

import re
from datetime import timedelta

import pytest

from printreach.contract.events import EventType
from printreach.contract.status import WebcamEntry
from printreach.rules.detection.scene import ViewCondition
from printreach.rules.prints.snapshots import KEPT_FOR
from printreach.rules.watch.choices import WatchSettings
from printreach.web.watch.view import format_time
from tests.rules.detection.test_jpeg import picture
from tests.web.printers.conftest import Home
from tests.web.prints.test_history import hear, told
from tests.web.watch.detector_form import EVIL
from tests.web.watch.watching import (
    PRINT,
    a_look,
    answers,
    choose,
    failing,
    picture_of,
    saw,
    saw_before,
    under_watch,
)
from tests.web.world import run

JPEG = picture()


@pytest.fixture
def home(home: Home) -> Home:
    home.says(under_watch(5, 6, 4))
    return home


def test_an_answer_is_kept_without_the_picture_unless_that_was_agreed_to(home: Home) -> None:
    saw(home, *failing(home), jpeg=JPEG)
    answer = home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    assert answer.headers["location"] == home.path
    assert [(one.was_failure, one.picture) for one in answers(home)] == [(False, None)]
    assert "You said: no, the print was fine" in home.get().text


def test_once_an_alarm_is_answered_the_latest_picture_is_shown_again(home: Home) -> None:
    looks = failing(home)
    now = home.world.clock.now()
    saw(home, *looks, a_look(now, 20), jpeg=JPEG)
    alarm = next(one for one in looks if one.warned)
    assert format_time(alarm.at) in home.get().text

    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    page = home.get().text
    assert format_time(now) in page
    assert format_time(alarm.at) not in page
    assert "The model saw a failure in that picture" not in page
    assert "Was this right?" not in page


@pytest.mark.parametrize("answer", ["", "no"])
def test_the_reasons_of_a_warning_stand_beside_its_own_picture(home: Home, answer: str) -> None:
    hear(home, told(home, EventType.STARTED, 1))
    looks = failing(home)
    now = home.world.clock.now()
    saw(home, *looks, a_look(now, 20, view=ViewCondition.DARK), jpeg=JPEG)
    alarm = next(one for one in looks if one.warned)
    if answer:
        home.send("/detector/judgement", print_id=PRINT, was_failure=answer)

    page = home.get("/history/print?id=print-1").text
    assert "The model saw a failure in that picture" in page
    assert "Was this right?" in page
    assert format_time(alarm.at) in page
    assert format_time(now) not in page


def test_a_warning_whose_picture_is_gone_stands_beside_none(home: Home) -> None:
    now = home.world.clock.now()
    saw_before(home, [a_look(now - timedelta(minutes=3), 95, warned=True)])
    saw(home, a_look(now, 20), jpeg=JPEG)

    page = home.get().text
    assert "Warned at" in page
    assert "What failure detection saw" not in page


def test_an_answer_counts_for_the_camera_that_the_alarm_came_from(home: Home) -> None:
    choose(home, WatchSettings(camera=1))
    saw(home, *failing(home))
    choose(home, WatchSettings(camera=2))
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    assert [one.camera for one in answers(home)] == [1]


def test_an_alarms_picture_is_turned_as_its_own_camera_is(home: Home) -> None:
    home.says(under_watch(5, camera=WebcamEntry(name="Bed", rotation=90)))
    choose(home, WatchSettings(camera=0))
    saw(home, *failing(home), jpeg=JPEG)
    choose(home, WatchSettings(camera=1))

    assert re.search(r'class="shot\s+turn-90"', home.get().text)


def test_after_a_no_the_quality_of_the_print_is_shown_calmly(home: Home) -> None:
    saw(home, *failing(home))
    home.says(under_watch(5, 95))
    red = '<b class="alarm">Possible failure, quality 1 of 10</b>'
    assert red in home.get().text

    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    page = home.get().text
    assert red not in page
    assert '<b class="calm">Quality 1 of 10</b>' in page


SILENCE = "You won\u2019t be warned about this print again unless"


def test_after_a_no_the_page_says_when_one_is_warned_again_and_undoes_it(home: Home) -> None:
    saw(home, *failing(home))
    assert SILENCE not in home.get().text

    home.send("/detector/judgement", print_id=PRINT, was_failure="no")
    page = home.get().text
    assert SILENCE in page
    assert "Undo my answer" in page

    answer = home.send("/detector/judgement", print_id=PRINT, was_failure="undo")
    assert answer.headers["location"] == home.path
    assert answers(home) == []
    page = home.get().text
    assert SILENCE not in page
    assert "Was this right?" in page


def test_a_yes_and_an_old_no_silence_nothing(home: Home) -> None:
    saw(home, *failing(home))
    home.send("/detector/judgement", print_id=PRINT, was_failure="yes")
    assert SILENCE not in home.get().text

    home.send("/detector/judgement", print_id=PRINT, was_failure="no")
    home.world.clock.advance(timedelta(minutes=31))
    home.says(under_watch(5, 6, 4))
    assert SILENCE not in home.get().text


def test_another_alarm_is_another_question(home: Home) -> None:
    looks = failing(home)
    saw(home, *looks)
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")
    home.world.clock.advance(timedelta(seconds=10))
    saw(home, a_look(home.world.clock.now(), 95, warned=True))

    page = home.get().text
    assert "Was this right?" in page
    assert "You said" not in page


def test_an_answer_can_be_changed_from_the_page_of_the_print(home: Home) -> None:
    hear(home, told(home, EventType.STARTED, 1))
    saw(home, *failing(home))
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")
    answer = home.send("/detector/judgement", print_id=PRINT, was_failure="yes", back="print")

    assert answer.headers["location"] == f"{home.path}/history/print?id=print-1"
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

    assert "No pictures are kept with your answers." in home.get("/detector").text
    assert home.get(f"/detector/judged?print={PRINT}").status_code == 404
    assert [one.was_failure for one in answers(home)] == [True]
    assert "What failure detection saw" not in home.get("/history/print?id=print-1").text


def test_an_answer_and_its_picture_outlive_what_was_seen_besides(home: Home) -> None:
    hear(home, told(home, EventType.STARTED, 1))
    saw(home, *failing(home), jpeg=JPEG)
    choose(home, WatchSettings(keeps_frames=True))
    home.send("/detector/judgement", print_id=PRINT, was_failure="yes")
    store, now = home.world.store, home.world.clock.now()
    run(home.browser, lambda: store.write(lambda records: records.watches.forget(now, now, 99)))

    page = home.get("/history/print?id=print-1")

    assert "Only your answer is kept: it was failing." in page.text
    assert "Nothing in it stood out" not in page.text
    assert picture_of(home, page).content == JPEG


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
