"""What a printer is, is the same on all of a page: badge, filter, counts, title and history."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.hub.printers.own import SeenPrinter
from printreach.hub.printers.readings import NOT_SEEN
from printreach.rules.printers import Printer
from printreach.web.printer_state import state_of
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import OFFLINE
from tests.relay.waiting import until
from tests.web.printers.conftest import Home, printing
from tests.web.printers.listening import PRINTER_ID, Listener, hall
from tests.web.prints.test_history import hear, told
from tests.web.world import WebWorld


def counts(page: str) -> dict[str, str]:
    return dict(re.findall(r"([A-Z][a-z ]+) <b>(\d+)</b>", page.replace("</svg>", "")))


def title(page: str) -> str:
    return unescape(re.findall(r"<title[^>]*>([^<]*)", page)[0])


def test_the_counts_of_the_filters_change_with_the_cards(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listener = here.listen()
            await until(lambda: _counts(listener).get("Working") == "1")
            world.printers.statuses[PRINTER_ID] = printing(state=State.PAUSED)
            await until(lambda: _counts(listener).get("Needs you") == "1")
            assert _counts(listener)["Working"] == "0"

            world.printers.statuses[PRINTER_ID] = OFFLINE
            await until(lambda: _counts(listener).get("Offline") == "1")
            assert _counts(listener) == {
                "All": "1",
                "Needs you": "0",
                "Working": "0",
                "Offline": "1",
            }

    body()


def _counts(listener: Listener) -> dict[str, str]:
    return counts([part for part in ["", *listener.parts()] if "chips" in part or not part][-1])


def test_a_page_of_one_printer_counts_the_others_that_need_somebody(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            world.printers.statuses[PRINTER_ID] = printing(state=State.PAUSED)
            listener = here.listen(f"/printers/{PRINTER_ID}/events")
            await until(lambda: any(">1<span" in part for part in listener.parts()))

    body()


@pytest.mark.parametrize(
    ("state", "badge"),
    [
        (State.COMPLETE, "Complete"),
        (State.CANCELLED, "Cancelled"),
        (State.PAUSED, "Paused"),
        (State.PRINTING, "Printing"),
    ],
)
def test_the_last_prints_agree_with_the_badge_before_the_history_has_heard(
    home: Home, state: State, badge: str
) -> None:
    hear(home, told(home, EventType.STARTED))
    home.says(printing(state=state))

    for page in (home.get().text, home.get("/history").text):
        shown = re.findall(r'class="badge is-\w+"><svg.*?</svg>([^<]*)<', page)
        assert set(shown) == {badge}


def test_the_title_says_how_far_a_print_is_and_what_else_the_printer_does(home: Home) -> None:
    assert title(home.get().text) == "62% Workbench · Printreach"
    for state, words in ((State.PAUSED, "Paused: Workbench"), (State.IDLE, "Workbench")):
        home.world.clock.advance(timedelta(seconds=10))
        home.says(printing(state=state))
        assert title(home.get().text) == f"{words} · Printreach"


def test_the_navigation_of_every_page_counts_the_printers_that_need_somebody(home: Home) -> None:
    """Also where no page that shows printers was open before, or for long."""
    needs = '1<span class="unseen"> needs you</span>'
    assert needs not in home.browser.get("/connections").text
    for state, places in ((State.PAUSED, 2), (State.PRINTING, 0)):
        home.world.clock.advance(timedelta(seconds=11))
        home.says(printing(state=state))
        for path in ("/connections", "/account", "/activity", f"{home.path}/settings"):
            assert home.browser.get(path).text.count(needs) == places, (state, path)


def test_the_count_of_a_farm_is_not_asked_for_with_each_page(home: Home) -> None:
    pages = ("/connections", "/account", "/activity", "/notifications")
    for path in pages:
        home.browser.get(path)

    assert home.world.printers.asks[home.printer_id] == 1


def test_a_printer_that_a_restart_cut_off_says_so() -> None:
    at = datetime(2026, 11, 23, 12, tzinfo=UTC)
    printer = Printer(
        printer_id=PRINTER_ID,
        account_id="ada",
        name="Workbench",
        public_key=b"k" * 32,
        linked_at=at - timedelta(days=1),
        disconnected_at=at - timedelta(seconds=12),
    )
    seen = SeenPrinter(printer=printer, is_online=False, reading=NOT_SEEN, awaits_reconnection=True)

    state = state_of(seen, at)
    assert state.emphasis == "The service has just restarted."
    assert "switched on" not in state.sentence
    assert "switched on" in state_of(replace(seen, awaits_reconnection=False), at).sentence
