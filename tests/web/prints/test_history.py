"""The history's pages and files, and what other people see of them."""

import csv
import html
import io
import re
from datetime import timedelta

import pytest
from httpx import Response

from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import State
from printreach.hub.prints import EVENTS_SHOWN, PAGE_SIZE, PrintHistoryWriter
from printreach.hub.prints.fanout import Fanout
from tests.fakes.printer_http import OFFLINE
from tests.rules.detection.test_jpeg import picture
from tests.web.connections.conftest import SNAPSHOT
from tests.web.printers.conftest import Home, bobs_printer, home, printing
from tests.web.world import run, sign_in

__all__ = ["bobs_printer", "home"]

EVIL = "<script>alert(1)</script>"


def hear(home: Home, *events: PrintEvent, printer_id: str = "") -> None:
    """Events come, and are handed out with a picture."""
    world = home.world
    snapshots = world.services.snapshots

    async def hear() -> None:
        at, asked = world.clock.now(), printer_id or home.printer_id
        await world.store.write(lambda records: records.events.append(asked, events, at))
        fanout = Fanout(world.core, [PrintHistoryWriter()], snapshots.take)
        await fanout.fan_out_due()
        await fanout.settled()
        await fanout.close()

    run(home.browser, hear)


def told(
    home: Home, kind: EventType, number: int = 0, file_name: str = "vase.gcode", **facts: object
) -> PrintEvent:
    return PrintEvent(
        event_id=f"event-{number:04}-{kind:d}",
        event_type=kind,
        event_time_sec=int(home.world.clock.now().timestamp()) + number,
        print_id=f"print-{number}",
        file_name=file_name,
        **facts,  # type: ignore[arg-type]  # a test names the fields
    )


def rows_of(answer: Response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def test_each_print_that_has_ended_can_be_made_again(home: Home) -> None:
    for number, name in enumerate(["first one.gcode", "", "third.gcode"], 1):
        hear(home, told(home, EventType.STARTED, number, name))
        if number < 3:
            hear(home, told(home, EventType.COMPLETE, number, name))
    home.says(printing(state=State.IDLE))
    again = f'href="{home.path}/files/again?name=first+one.gcode" data-question'

    for path in ("/history", ""):
        page = home.get(path).text
        assert page.count(again) == 1, path
        assert "again?name=third" not in page, "it is under way"
        assert 'again?name="' not in page, "its file is not known"


def test_nothing_is_offered_again_while_a_printer_is_busy(home: Home) -> None:
    hear(home, told(home, EventType.STARTED), told(home, EventType.COMPLETE))

    assert "files/again" not in home.get("/history").text


def test_a_print_shows_in_the_history_on_the_quick_view_and_under_activity(home: Home) -> None:
    home.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    hear(home, told(home, EventType.STARTED))
    hear(home, told(home, EventType.COMPLETE, duration_sec=7200, filament_used_mg=12_300))

    for page in (home.get("/history").text, home.browser.get("/activity").text):
        for words in ("vase.gcode", "Complete", "2 h", "12 g", 'src="/snapshots/', "100%"):
            assert words in page, words
    quick = home.get().text
    assert "Last prints" in quick
    assert "vase.gcode, " not in quick
    assert f'href="{home.path}/history"' in quick
    assert "Workbench: print finished" in home.browser.get("/activity").text


def test_a_print_under_way_has_not_ended_and_may_stand(home: Home) -> None:
    hear(home, told(home, EventType.STARTED))
    hear(home, told(home, EventType.PAUSED, progress=40))

    listed = home.get("/history").text
    page = home.browser.get(
        html.unescape(re.findall(r'class="of-print" href="([^"]*)"', listed)[0])
    )
    assert "Printing" in listed
    assert "<dt>Progress</dt><dd data-ages>62%</dd>" in page.text
    assert "at 62%" in listed
    assert "Ended at" not in page.text


def test_how_far_a_print_is_stays_as_last_heard_while_its_printer_is_away(home: Home) -> None:
    hear(home, told(home, EventType.STARTED), told(home, EventType.PAUSED, progress=40))
    home.world.printers.statuses[home.printer_id] = OFFLINE

    assert "<dd data-ages>40%</dd>" in home.get("/history/print?id=print-0").text


def test_only_the_page_of_a_print_under_way_is_kept_up_to_date(home: Home) -> None:
    hear(home, told(home, EventType.STARTED))
    running = home.get("/history/print?id=print-0").text
    hear(home, told(home, EventType.COMPLETE))

    assert f'data-live="{home.path}/events?page=print&amp;id=print-0"' in running
    assert "data-live" not in home.get("/history/print?id=print-0").text


def test_the_picture_of_an_end_is_turned_as_the_owner_chose_for_the_camera(home: Home) -> None:
    home.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    hear(home, told(home, EventType.STARTED), told(home, EventType.COMPLETE))
    fields = {"key": "cam0", "name": "", "rotation": "180", "flip-h": "yes"}
    home.send("/cameras", **{f"camera-0-{name}": value for name, value in fields.items()})

    pages = [home.get("/history"), home.get("/history/print?id=print-0")]
    for page in [*pages, home.browser.get("/activity")]:
        [classes] = re.findall(r'<img class="([^"]*)" src="/snapshots/', page.text)
        assert classes.split() == ["flip-h", "turn-180"]


def test_the_picture_of_an_end_is_shown_as_long_as_it_is_kept(home: Home) -> None:
    home.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    hear(home, told(home, EventType.COMPLETE))
    assert "/snapshots/" in home.get("/history").text
    home.world.clock.advance(timedelta(days=7))

    assert "/snapshots/" not in home.get("/history").text


def test_less_than_an_hour_of_printing_is_not_called_none(home: Home) -> None:
    """In the sum, and in each month of the table."""
    hear(home, told(home, EventType.STARTED, 1))
    home.world.clock.advance(timedelta(minutes=25))
    hear(home, told(home, EventType.COMPLETE, 1))
    home.world.clock.advance(timedelta(days=40))
    hear(home, told(home, EventType.STARTED, 2))
    home.world.clock.advance(timedelta(hours=3))
    hear(home, told(home, EventType.COMPLETE, 2))
    sign_in(home.browser)

    assert "<dt>Hours</dt><dd>3</dd>" in home.browser.get("/activity").text
    assert 'data-label="Hours">under 1</td>' in home.browser.get("/activity").text


def test_an_account_without_prints_is_told_so(home: Home) -> None:
    assert "No print since this printer was linked." in home.get("/history").text
    assert "Nothing has happened yet." in home.browser.get("/activity").text
    assert "Prints are listed here" in home.get().text
    assert rows_of(home.get("/history/prints.csv")) == []
    assert home.browser.get("/activity/prints.json").json() == []


def test_names_and_errors_are_never_markup(home: Home) -> None:
    hear(home, told(home, EventType.FAILED, file_name=f"{EVIL}.gcode", error=EVIL))

    for page in (home.get("/history"), home.browser.get("/activity"), home.get()):
        assert EVIL not in page.text
        assert "&lt;script&gt;" in page.text


def test_files_are_saved_and_run_by_nothing(home: Home) -> None:
    hear(home, told(home, EventType.COMPLETE, file_name="=cmd|' /C calc'!A0"))
    for path in (f"{home.path}/history", "/activity"):
        table, document = (home.browser.get(f"{path}/prints.{kind}") for kind in ("csv", "json"))
        for answer in (table, document):
            assert answer.headers["content-disposition"].startswith("attachment;")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "sandbox" in answer.headers["content-security-policy"]
        assert rows_of(table)[0]["FileName"] == "'=cmd|' /C calc'!A0"
        assert document.json()[0]["FileName"] == "=cmd|' /C calc'!A0"


def test_many_prints_are_read_page_by_page(home: Home) -> None:
    count = PAGE_SIZE + 3
    ended = [told(home, EventType.COMPLETE, number, f"file-{number:03}") for number in range(count)]
    hear(home, *ended)
    first = home.get("/history").text
    assert f"file-{count - 1:03}" in first
    assert "file-002" not in first
    older = first.split("/history?before=")[1].split('"')[0]
    second = home.get(f"/history?before={older}").text

    assert "file-002" in second
    assert "file-003" not in second
    assert len(rows_of(home.get("/history/prints.csv"))) == count


def test_what_happened_is_read_page_by_page(home: Home) -> None:
    """Steps of progress between two events don't count."""
    count = EVENTS_SHOWN + 3
    for number in range(count):
        steps = [told(home, EventType.PROGRESS, number * 10 + step) for step in range(4)]
        hear(home, *steps, told(home, EventType.STARTED, number, f"file-{number:03}"))
    first = home.browser.get("/activity").text
    happened, _, _ = first.partition("<h2>Prints</h2>")
    assert happened.count("<li>") == EVENTS_SHOWN
    assert "file-002" not in happened
    older = happened.split("/activity?events_before=")[1].split('"')[0]

    second = home.browser.get(f"/activity?events_before={older}").text
    assert [f"file-{number:03}" in second for number in range(4)] == [True, True, True, False]
    assert 'href="/activity" rel="prev"' in second
    assert "events_before" not in second
    assert "<h2>Prints</h2>" not in second


def test_of_events_that_are_no_longer_kept_the_page_says_so(home: Home) -> None:
    hear(home, told(home, EventType.STARTED))

    assert "no longer kept" in home.browser.get("/activity?events_before=9999").text


@pytest.mark.parametrize("place", ["", "x", "-1", "9" * 40, "\u0663"])
def test_an_invalid_place_of_an_event_counts_as_missing(home: Home, place: str) -> None:
    hear(home, told(home, EventType.STARTED))
    answer = home.browser.get("/activity", params={"events_before": place})

    assert answer.status_code == 200
    assert "What happened" in answer.text
    assert "vase.gcode" in answer.text


@pytest.mark.parametrize(
    "cursor", ["", "x", "1", "-", "1-", "-1", "9" * 40 + "-1", "\u0663-\u0661", "1-1-1"]
)
def test_an_invalid_cursor_counts_as_missing(home: Home, cursor: str) -> None:
    hear(home, told(home, EventType.COMPLETE))
    for path in (f"{home.path}/history", "/activity"):
        answer = home.browser.get(path, params={"before": cursor})

        assert answer.status_code == 200
        assert "vase.gcode" in answer.text


def test_another_accounts_history_is_as_one_that_does_not_exist(
    home: Home, bobs_printer: str
) -> None:
    hear(home, told(home, EventType.COMPLETE, file_name="bobs.gcode"), printer_id=bobs_printer)
    for page in ("history", "history/prints.csv", "history/prints.json"):
        theirs = home.browser.get(f"/printers/{bobs_printer}/{page}")
        unknown = home.browser.get(f"/printers/{'a' * 32}/{page}")
        assert (theirs.status_code, theirs.text) == (404, unknown.text)

    paths = (
        "/activity",
        "/activity?events_before=99",
        "/activity/prints.csv",
        "/activity/prints.json",
    )
    for path in paths:
        assert "bobs" not in home.browser.get(path).text


@pytest.mark.parametrize(
    "path",
    ["/activity", "/activity/prints.csv", "/printers/x/history", "/printers/x/history/prints.json"],
)
def test_history_is_for_who_is_signed_in(home: Home, path: str) -> None:
    home.browser.cookies.clear()
    answer = home.browser.get(path, follow_redirects=False)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/signin")


def test_a_removed_printers_prints_stay_under_activity(home: Home) -> None:
    hear(home, told(home, EventType.COMPLETE))
    home.send("/remove")
    page = home.browser.get("/activity").text

    assert "vase.gcode" in page
    assert "Workbench" in page
    assert f"/printers/{home.printer_id}" not in page
