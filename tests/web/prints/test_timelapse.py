"""The timelapse of a print: on its page, at an address of its own, and how long it is kept."""

import html
import re

import pytest

from printreach.contract.events import EventType
from printreach.rules.prints.timelapse import PrintKey, Timelapse
from printreach.web.prints import timelapses
from tests.web.printers.conftest import Home, bobs_printer, home
from tests.web.prints.test_history import hear, told
from tests.web.world import run, send, sign_in

__all__ = ["bobs_printer", "home"]

VIDEO = bytes(range(100))
VIDEO_ID = "a" * 32
PATH = f"/timelapses/{VIDEO_ID}.mp4"
PRINT = "print-0"


def has_video(home: Home, *, is_made: bool = True) -> None:
    """A print has ended, and its video is made, or is about to be."""
    hear(home, told(home, EventType.STARTED), told(home, EventType.COMPLETE))
    keep_video(home, VIDEO, is_made=is_made)


def keep_video(home: Home, video: bytes, print_id: str = PRINT, *, is_made: bool = True) -> None:
    """Keep a video of a print."""
    world = home.world
    at = world.clock.now()
    kept = Timelapse(
        timelapse_id="t",
        account_id=home.account_id,
        printer_id=home.printer_id,
        print_id=print_id,
        gap_s=10,
        pictures=0,
        taken_at=None,
        tries=1,
        video_id=VIDEO_ID,
        size=len(video),
        made_at=at if is_made else None,
    )

    async def keep() -> None:
        await world.services.timelapses.videos.put(VIDEO_ID, video)
        await world.store.write(lambda records: records.timelapses.begin(kept))

    run(home.browser, keep)


def page_of(home: Home) -> str:
    return html.unescape(home.get(f"/history/print?id={PRINT}").text)


def test_the_page_of_a_print_plays_its_video_and_says_what_can_be_done(home: Home) -> None:
    has_video(home)
    page = page_of(home)

    assert f'src="{PATH}"' in page
    assert 'download="vase.mp4"' in page
    assert f">{home.world.settings.base_url}{PATH}</code>" in page
    assert "Delete this timelapse?" in page


def test_a_video_that_is_being_made_is_said_and_not_shown(home: Home) -> None:
    has_video(home, is_made=False)

    assert "It is being made" in page_of(home)
    assert PATH not in page_of(home)
    assert home.browser.get(PATH).status_code == 404


@pytest.mark.parametrize(
    ("asked", "status", "said", "content"),
    [
        ("", 200, None, VIDEO),
        ("bytes=0-", 206, "bytes 0-99/100", VIDEO),
        ("bytes=0-1", 206, "bytes 0-1/100", VIDEO[:2]),
        ("bytes=90-1000", 206, "bytes 90-99/100", VIDEO[90:]),
        ("bytes=-10", 206, "bytes 90-99/100", VIDEO[90:]),
        ("bytes=-1000", 206, "bytes 0-99/100", VIDEO),
        ("bytes=100-", 416, "bytes */100", b""),
        ("bytes=5-3", 416, "bytes */100", b""),
        ("bytes=-", 200, None, VIDEO),
        ("bytes=0-1,5-6", 200, None, VIDEO),
        ("seconds=1-2", 200, None, VIDEO),
        ("bytes=\u0663-\u0664", 200, None, VIDEO),
        (f"bytes={'9' * 40}-", 200, None, VIDEO),
    ],
)
def test_players_get_the_range_they_ask_for(
    home: Home, asked: str, status: int, said: str | None, content: bytes
) -> None:
    has_video(home)
    headers = [(b"range", asked.encode())] if asked else []
    request = home.browser.build_request("GET", PATH, headers=headers)
    request.headers.pop("cookie")
    answer = home.browser.send(request)

    assert answer.status_code == status
    assert answer.headers.get("content-range") == said
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.content == content


def test_a_head_is_that_of_the_video(home: Home) -> None:
    has_video(home)
    answer = home.browser.head(PATH)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(VIDEO))


@pytest.mark.parametrize(
    "path", [f"/timelapses/{'b' * 32}.mp4", PATH[:-1], PATH.replace("mp4", "jpg"), PATH[:-4]]
)
def test_another_address_has_no_video(home: Home, path: str) -> None:
    has_video(home)

    assert home.browser.get(path).status_code == 404


@pytest.mark.parametrize(("at_once", "statuses"), [(0, [429, 429]), (1, [200, 200])])
def test_videos_that_are_being_sent_are_bounded(
    home: Home, monkeypatch: pytest.MonkeyPatch, at_once: int, statuses: list[int]
) -> None:
    """Each is in memory until its reader has taken it; then the next one has its place."""
    monkeypatch.setattr(timelapses, "MAX_SENT_TO_ADDRESS", at_once)
    has_video(home)

    assert [home.browser.get(PATH).status_code for _ in range(2)] == statuses


def test_the_owner_deletes_it_after_a_question(home: Home) -> None:
    has_video(home)
    link = re.findall(r'href="([^"]*/timelapse/delete[^"]*)"', page_of(home))[0]
    asked = home.browser.get(link).text
    assert "Delete this timelapse?" in asked
    answer = home.send("/history/timelapse/delete", print_id=PRINT)

    assert answer.status_code == 303
    assert home.browser.get(PATH).status_code == 404
    assert PATH not in page_of(home)


def test_a_stranger_deletes_nothing(home: Home) -> None:
    has_video(home)
    key = PrintKey(account_id=home.account_id, printer_id=home.printer_id, print_id=PRINT)
    home.world.add_account(home.browser, "bob@example.org")
    sign_in(home.browser, "bob@example.org")
    answer = home.send("/history/timelapse/delete", print_id=PRINT)

    assert answer.status_code == 404
    assert home.browser.get(PATH).content == VIDEO
    found = run(home.browser, lambda: home.world.services.timelapses.of_print(key))
    assert found is not None


def test_the_time_they_are_kept_is_chosen_on_the_account(home: Home) -> None:
    assert '<option value="30" selected>30 days</option>' in home.browser.get("/account").text
    assert send(home.browser, "/account/timelapses", days="365").status_code == 303
    assert '<option value="365" selected>A year</option>' in home.browser.get("/account").text


@pytest.mark.parametrize("days", ["", "8", "-1", "all"])
def test_no_other_time_can_be_chosen(home: Home, days: str) -> None:
    assert send(home.browser, "/account/timelapses", days=days).status_code == 400
    assert '<option value="30" selected>' in home.browser.get("/account").text
