"""What failure detection found of a print is said in the same words on all pages."""

import re
from datetime import timedelta

import pytest
from msgspec import structs

from printreach.contract.status import DetectorStatus, State, StatusResult
from printreach.contract.unset import UNSET
from tests.web.printers.conftest import Home
from tests.web.watch.watching import PRINT, a_look, failing, saw, under_watch

BAD = re.compile(r"(?:Print|Probable|Possible) (?:failure|issue)")
GOOD = re.compile(r"\b(?:Good|Great|Perfect), \d+ of 10")
RED = re.compile(r'class="(?:alarm|worry)"')


def detected(
    status: StatusResult,
    *,
    warned_s: float | None = None,
    is_suppressed: bool = False,
    cannot_see: str = "",
) -> StatusResult:
    detector: DetectorStatus = structs.replace(
        status.service_status.detector,
        time_since_last_warn_sec=warned_s,
        is_suppressed=is_suppressed,
        cannot_see=cannot_see or UNSET,
    )
    service = structs.replace(status.service_status, detector=detector)
    return structs.replace(status, service_status=service)


STATES = {
    "nothing seen yet": under_watch(),
    "all is well": under_watch(5, 6),
    "something odd": under_watch(5, 55),
    "bad, not warned yet": under_watch(5, 95),
    "bad, warned": detected(under_watch(5, 95), warned_s=20.0),
    "good again after a warning": detected(under_watch(95, 5), warned_s=120.0),
    "warned, too dark now": detected(under_watch(95), warned_s=20.0, cannot_see="dark"),
    "warned, then not watched": detected(under_watch(5, 95), warned_s=20.0, is_suppressed=True),
    "paused by it": under_watch(5, 95, state=State.PAUSED, paused_s=5.0),
    "paused by a person after a warning": detected(
        under_watch(5, 95, state=State.PAUSED), warned_s=20.0
    ),
}


def words_of(page: str) -> set[str]:
    bad, good = set(BAD.findall(page)), {"good"} & {"good" for _ in GOOD.findall(page)}
    off = {"off"} if "Off for this print" in page else set()
    return bad | good | off


def test_scripts_are_told_how_to_let_the_age_of_a_look_go_on(home: Home) -> None:
    home.says(under_watch(5, 6))
    saw(home, *failing(home))

    age = '<span data-age="5" data-ago="seen {} ago">seen 5 s ago</span>'
    assert age in home.get().text
    assert age in home.browser.get("/printers").text


@pytest.mark.parametrize("state", STATES)
def test_no_page_has_two_verdicts_on_one_print(home: Home, state: str) -> None:
    home.says(STATES[state])
    saw(home, *failing(home, paused="paused by it" in state))
    if STATES[state].service_status.detector.is_suppressed:
        home.send("/detector/print", watch="off", print_id=PRINT)

    said = [words_of(page) for page in pages(home)]

    assert all(len(words) <= 1 for words in said), said
    assert len(set.union(*said)) <= 1, said


def test_a_warning_and_the_strip_beside_it_say_it_once(home: Home) -> None:
    home.says(STATES["bad, warned"])
    saw(home, *failing(home))

    for page in pages(home)[:2]:
        assert page.count("Possible failure") == 1
        assert '<b class="alarm">Quality 1 of 10</b>' in page


def test_the_list_shows_the_owners_answer_as_soon_as_the_printers_page(home: Home) -> None:
    """The agent, and so the printer's status, hears of the answer after some looks."""
    home.says(STATES["bad, warned"])
    saw(home, *failing(home))
    assert all(RED.search(page) for page in pages(home)[:2])

    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    for page in pages(home)[:2]:
        assert "Possible failure" not in page
        assert '<b class="calm">Quality 1 of 10</b>' in page
        assert not re.search(r'<(?:b|rect) class="(?:alarm|worry)"', page)
    assert "Needs you <b>0</b>" in re.sub(r"<svg.*?</svg>", "", pages(home)[0])


def test_a_pause_that_was_wrong_is_an_ordinary_one(home: Home) -> None:
    home.says(STATES["paused by it"])
    saw(home, *failing(home, paused=True))
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    for page in pages(home)[:2]:
        assert "Paused by failure detection" not in page
        assert "Resume it when you are ready." in page


def test_an_answer_says_nothing_of_later_alarms_or_other_prints(home: Home) -> None:
    home.says(STATES["bad, warned"])
    saw(home, *failing(home))
    home.send("/detector/judgement", print_id=PRINT, was_failure="no")

    home.world.clock.advance(timedelta(seconds=10))
    saw(home, a_look(home.world.clock.now(), 95, warned=True))
    home.says(detected(under_watch(5, 95), warned_s=2.0))
    assert all("Possible failure" in page for page in pages(home)[:2])

    home.world.clock.advance(timedelta(seconds=10))
    home.says(detected(under_watch(5, 95, print_id="another"), warned_s=100.0))
    assert "Possible failure" in pages(home)[0]


def pages(home: Home) -> list[str]:
    """Return the list of printers, the printer's own page, and the others that tell of it."""
    paths = (home.path, f"{home.path}/control", f"{home.path}/history", "/activity")
    return [home.browser.get(path).text for path in ("/printers", *paths)]


def test_a_card_has_a_bar_for_each_look_that_the_printers_page_counts(home: Home) -> None:
    home.says(under_watch(*[5] * 60))
    saw(home, *failing(home, 10))

    strip = home.browser.get("/printers").text.partition('<svg class="looks"')[2]
    assert strip.partition("</svg>")[0].count("<rect") == 18
    assert "of 18 looks." in home.get().text
