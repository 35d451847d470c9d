"""While somebody else has paused a print, the Quick View says who."""

from datetime import timedelta

import pytest
from msgspec.structs import replace as replaced

from printreach.contract.events import EventType
from printreach.contract.status import DetectorStatus, State
from printreach.hub.printers import given_orders
from printreach.rules.printers.members import Role
from tests.web.printers.conftest import Home, printing
from tests.web.printers.members import CLEO, EVE, browser_of, let_in
from tests.web.prints.test_history import hear, told
from tests.web.world import ADA, Browser, send

NOBODY = "<b>Paused.</b> Resume it when you are ready."


@pytest.fixture
def shared(home: Home) -> Home:
    """Cleo controls Ada's printer, and Eve watches it."""
    let_in(home, CLEO, Role.CONTROL)
    let_in(home, EVE, Role.WATCH)
    home.world.printers.effects = {
        "/pause": printing(state=State.PAUSED),
        "/resume": printing(),
    }
    return home


def order(home: Home, browser: Browser, path: str) -> None:
    assert send(browser, home.path + path).status_code == 303


def note_seen_by(home: Home, browser: Browser) -> str:
    page = browser.get(home.path).text
    return page.partition('id="part-now"')[2].partition("</div>")[0]


def test_the_owner_reads_which_person_paused_and_the_others_only_that_it_was_one(
    shared: Home,
) -> None:
    with browser_of(shared, CLEO) as cleo, browser_of(shared, EVE) as eve:
        order(shared, cleo, "/pause")

        paused = note_seen_by(shared, shared.browser)
        assert f"<b>Paused by {CLEO}</b> 0 s ago. Look before you resume." in paused
        assert NOBODY in note_seen_by(shared, cleo)
        assert "<b>Paused by another person</b>" in note_seen_by(shared, eve)
        assert CLEO not in eve.get(shared.path).text


def test_the_others_read_that_the_owner_paused(shared: Home) -> None:
    order(shared, shared.browser, "/pause")

    with browser_of(shared, EVE) as eve:
        assert f"<b>Paused by {ADA}</b>" in note_seen_by(shared, eve)
    assert NOBODY in note_seen_by(shared, shared.browser)


def test_what_the_printer_says_of_the_pause_stays(shared: Home) -> None:
    with browser_of(shared, CLEO) as cleo:
        order(shared, cleo, "/pause")
    shared.world.clock.advance(timedelta(seconds=10))
    said = printing(state=State.PAUSED)
    shared.says(replaced(said, job_status=replaced(said.job_status, error="No filament.")))

    paused = note_seen_by(shared, shared.browser)
    assert "Look before you resume. No filament." in paused


@pytest.mark.parametrize("kind", [EventType.RESUMED, EventType.STARTED])
def test_a_pause_after_the_print_went_on_without_an_order_is_nobodys(
    shared: Home, kind: EventType
) -> None:
    with browser_of(shared, CLEO) as cleo:
        order(shared, cleo, "/pause")
    shared.world.clock.advance(timedelta(seconds=10))
    hear(shared, told(shared, kind))

    assert NOBODY in note_seen_by(shared, shared.browser)


def test_a_pause_after_an_order_to_resume_is_nobodys(shared: Home) -> None:
    with browser_of(shared, CLEO) as cleo:
        order(shared, cleo, "/pause")
        order(shared, cleo, "/resume")
    shared.world.clock.advance(timedelta(seconds=10))
    shared.says(printing(state=State.PAUSED))

    assert NOBODY in note_seen_by(shared, shared.browser)


def test_with_more_events_since_than_are_looked_through_nobody_is_named(
    shared: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given_orders, "LOOKED_THROUGH", 2)
    with browser_of(shared, CLEO) as cleo:
        order(shared, cleo, "/pause")
    shared.world.clock.advance(timedelta(seconds=10))
    hear(shared, told(shared, EventType.PROGRESS, 1), told(shared, EventType.PROGRESS, 2))

    assert NOBODY in note_seen_by(shared, shared.browser)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", "Von der Fehlererkennung pausiert</b> vor 10 s"),
        ("es", "Pausada por la detección de fallos</b> hace 10 s"),
        ("fr", "Mise en pause par la détection des échecs</b> il y a 10 s"),
        ("zh-Hans", "已被失败检测暂停</b> 10 秒前"),
    ],
)
def test_who_paused_and_when_is_one_sentence_in_every_language(
    shared: Home, language: str, words: str
) -> None:
    for scores in ([], [0.9]):
        detector = DetectorStatus(
            score_history=scores, time_since_last_pause_sec=10.0, time_since_last_score_sec=10.0
        )
        shared.says(printing(state=State.PAUSED, detector=detector))

        page = shared.browser.get(shared.path, headers={"Accept-Language": language}).text

        assert words in page.replace("\N{NO-BREAK SPACE}", " ")


def test_a_pause_of_failure_detection_is_that(shared: Home) -> None:
    with browser_of(shared, CLEO) as cleo:
        order(shared, cleo, "/pause")
    shared.world.clock.advance(timedelta(seconds=10))
    detector = DetectorStatus(time_since_last_pause_sec=10.0, time_since_last_score_sec=10.0)
    shared.says(printing(state=State.PAUSED, detector=detector))

    assert "<b>Paused by failure detection</b>" in note_seen_by(shared, shared.browser)
