"""Pictures of events at their addresses, and the last picture of a printer that is offline."""

import io
from datetime import timedelta

import pytest
from PIL import ExifTags, Image

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.contract.events import EventType
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.prints.snapshots import KEPT_FOR
from printreach.store.prints.events import StoredEvent
from printreach.web.prints import BY_ADDRESS
from tests.fakes.printer_http import OFFLINE
from tests.rules.connections.test_live_links import event
from tests.rules.detection.test_jpeg import picture
from tests.web.connections.conftest import SNAPSHOT
from tests.web.printers.conftest import Home, bobs_printer, home
from tests.web.world import run, send, sign_in

__all__ = ["bobs_printer", "home"]


def take(home: Home) -> str:
    """A picture for an event; the path of its address."""
    home.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    stored = StoredEvent(
        seq=1,
        account_id=home.account_id,
        printer_id=home.printer_id,
        event=event(EventType.STARTED),
        received_at=home.world.clock.now(),
    )

    async def take() -> str:
        services = home.world.services
        taken = await services.snapshots.take(stored)
        assert taken is not None
        return services.addresses.of_snapshot(taken).removeprefix(home.world.settings.base_url)

    return run(home.browser, take)


def test_for_people_a_picture_says_how_its_camera_was_turned(home: Home) -> None:
    """Its address in notifications; apps get it as the camera takes it."""
    path = take(home)
    fields = {"key": "cam0", "name": "", "rotation": "90"}
    home.send("/cameras", **{f"camera-0-{name}": value for name, value in fields.items()})
    home.browser.cookies.clear()

    def orientation(address: str) -> int | None:
        answer = home.browser.get(address)
        assert answer.headers["content-type"] == "image/jpeg"
        with Image.open(io.BytesIO(answer.content)) as opened:
            return opened.getexif().get(ExifTags.Base.Orientation)

    assert orientation(f"{path}?turned=yes") == 6
    assert orientation(path) is None


def leave(home: Home) -> None:
    """The printer goes away."""
    home.world.clock.advance(timedelta(minutes=1))
    home.world.printers.statuses[home.printer_id] = OFFLINE


def test_a_picture_is_served_as_nothing_else_and_without_a_cookie(home: Home) -> None:
    path = take(home)
    request = home.browser.build_request("GET", path)
    request.headers.pop("cookie")
    answer = home.browser.send(request)

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
    assert answer.content == home.world.printers.raw[SNAPSHOT][1]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "set-cookie" not in answer.headers
    assert len(path) == len("/snapshots/.jpg") + 32  # 160 random bits


def test_while_the_storage_of_pictures_is_away_each_is_asked_for_again_later(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = take(home)
    leave(home)

    async def refuse(_: DiskSnapshots, snapshot_id: str) -> bytes | None:
        raise SnapshotsUnavailable("A picture can't be read: connection refused")

    monkeypatch.setattr(DiskSnapshots, "get", refuse)
    for answer in (home.browser.get(path), home.get("/webcam/last")):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    mine = [one for one in caplog.records if one.name.startswith("printreach.")]
    assert [(one.levelname, one.exc_info) for one in mine] == [("WARNING", None)] * 2


def test_a_picture_is_gone_after_a_week(home: Home) -> None:
    path = take(home)
    home.world.clock.advance(KEPT_FOR)

    assert home.browser.get(path).status_code == 404


@pytest.mark.parametrize(
    "name",
    ["", "a" * 32, "a" * 32 + ".jpg", "A" * 32 + ".jpg", "..%2f..%2fprintreach.sqlite3", "x.jpg"],
)
def test_a_name_that_was_never_given_out_is_no_picture(home: Home, name: str) -> None:
    assert home.browser.get(f"/snapshots/{name}").status_code == 404
    assert home.browser.get(take(home).removesuffix(".jpg")).status_code == 404


def test_guessing_addresses_has_to_wait(home: Home) -> None:
    tries = range(BY_ADDRESS.at_once + 1)
    codes = [home.browser.get(f"/snapshots/{n}.jpg").status_code for n in tries]

    assert (codes[0], codes[-1]) == (404, 429)


def test_a_printer_that_is_away_shows_its_last_picture_with_its_time(home: Home) -> None:
    home.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    assert home.get("/webcam/still").status_code == 200
    leave(home)

    for page in (home.get().text, home.browser.get("/printers").text):
        assert f'src="{home.path}/webcam/last' in page
        assert "is-gone" in page
        assert "Last picture <time" in page
    last = home.get("/webcam/last")
    assert (last.status_code, last.headers["content-type"]) == (200, "image/jpeg")
    assert last.content == home.world.printers.raw[SNAPSHOT][1]


def test_a_printer_that_nobody_looked_at_has_no_last_picture(home: Home) -> None:
    home.get()
    leave(home)

    assert "webcam/last" not in home.get().text
    assert home.get("/webcam/last").status_code == 404


def test_the_last_picture_of_anothers_printer_is_as_if_there_were_none(
    home: Home, bobs_printer: str
) -> None:
    take(home)
    theirs = home.browser.get(f"/printers/{bobs_printer}/webcam/last")
    unknown = home.browser.get(f"/printers/{'a' * 32}/webcam/last")

    assert (theirs.status_code, theirs.text) == (404, unknown.text)


def test_the_next_owner_of_a_printer_sees_no_picture_of_the_one_before(home: Home) -> None:
    take(home)
    home.send("/remove")
    bob = home.world.add_account(home.browser, "bob@example.org")
    home.add_printer("Workbench", account_id=bob.account_id, is_online=False)
    send(home.browser, "/signout")
    sign_in(home.browser, "bob@example.org")

    assert home.get().status_code == 200
    assert "webcam/last" not in home.get().text
    assert home.get("/webcam/last").status_code == 404
