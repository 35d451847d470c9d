"""The dashboard in a real browser, with a real service, and the simulated printer's agent."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.rigs.calls import call
from tests.rigs.chromium import chromium, close_page, watch
from tests.rigs.looks import look_at
from tests.rigs.service import OWNER, PASSWORD, LinkedPrinter, Service
from tests.rigs.sites import site
from tests.rigs.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SLOW = b";LAYER_COUNT:3\n;LAYER:0\nG1 X50 Y50 Z0.2 F9000\n;LAYER:1\n" + (
    b"G1 X60 F600\nG1 X50 F600\n" * 250
)
"""Moves of a second each, and nothing to be heated first."""
SIZES = [(390, 844), (820, 1180), (1440, 900)]
STOPPED = re.compile("Cancelled|Idle")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dashboard")


@pytest.fixture(scope="module")
def home(folder: Path) -> Iterator[Service]:
    with site(folder) as running:
        yield running


@pytest.fixture(scope="module")
def workbench(home: Service) -> Iterator[LinkedPrinter]:
    with home.printer("Workbench", "", platform="simulated") as linked:
        yield linked


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[BrowserContext]:
    with chromium(folder / "profile") as context:
        yield context


@pytest.fixture
def page(home: Service, workbench: LinkedPrinter, browser: BrowserContext) -> Iterator[Page]:
    """The owner, signed in, in front of their printers."""
    assert workbench.id
    browser.clear_cookies()
    page = browser.new_page()
    page.goto(f"{home.base_url}/printers")
    page.get_by_label("E-mail").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).to_have_url(f"{home.base_url}/printers")
    yield page
    close_page(page)


def upload(page: Page, at: str, name: str = "slow_vase.gcode", body: bytes = SLOW) -> None:
    """Put a file on the printer by the page's own form, also in place of one of that name."""
    page.goto(f"{at}/files")
    is_there = page.get_by_role("link", name=name, exact=True).count() > 0
    file = {"name": name, "mimeType": "text/x.gcode", "buffer": body}
    page.locator("#upload").set_input_files(file)  # type: ignore[arg-type]  # as told
    page.get_by_role("button", name="Upload", exact=True).click()
    if is_there:
        page.get_by_role("dialog").get_by_role("button", name="Replace").click()
    expect(page.get_by_text("The file is on the printer.")).to_be_visible()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def expect_in_history(page: Page, at: str) -> None:
    """The stopped print is there, with a picture of its end; its events take a moment."""
    row = page.get_by_role("row").filter(has_text="slow_vase.gcode").first

    def look() -> bool:
        page.goto(f"{at}/history")
        return row.get_by_text("Cancelled").is_visible() and row.get_by_role("img").is_visible()

    wait_for("the print in the history", look, seconds=60)
    expect(row.get_by_role("img")).to_have_js_property("naturalWidth", 640)


@pytest.mark.parametrize(("width", "height"), SIZES, ids=["phone", "tablet", "desktop"])
def test_a_print_from_upload_to_its_end(
    home: Service, workbench: LinkedPrinter, page: Page, width: int, height: int
) -> None:
    seen = watch(page)
    page.set_viewport_size({"width": width, "height": height})
    at = f"{home.base_url}/printers/{workbench.id}"
    upload(page, at)
    page.get_by_role("row", name="slow_vase.gcode").get_by_role("link", name="Print").click()
    page.get_by_role("button", name="Start printing").click()
    expect(page).to_have_url(re.compile(re.escape(at)))
    expect(page.get_by_text("Printing", exact=True).first).to_be_visible()
    picture = page.get_by_role("img", name="Workbench, webcam")
    expect(picture).to_have_js_property("naturalWidth", 640)

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("Printing", exact=True).first).to_be_visible()
    page.get_by_role("link", name="Stop print").click()
    expect(page.get_by_role("heading", name="Stop slow_vase.gcode?")).to_be_visible()
    page.get_by_role("button", name="Don\u2019t stop").click()
    page.get_by_role("link", name="Stop print").click()
    page.get_by_role("button", name="Stop print").click()
    expect(page.get_by_text(STOPPED).first).to_be_visible()
    expect_in_history(page, at)
    assert seen.errors == []
    assert seen.hosts == {urlsplit(home.base_url).netloc}


def test_what_the_printer_does_shows_on_an_open_page(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    at = f"{home.base_url}/printers/{workbench.id}"
    upload(page, at)
    page.goto(f"{home.base_url}/printers")
    card = page.locator(f"#printer-{workbench.id}")
    expect(card).not_to_contain_text("Printing")
    other = page.context.new_page()
    other.goto(f"{at}/files/start?path=gcode/slow_vase.gcode")
    with other.expect_navigation():
        other.get_by_role("button", name="Start printing").click()
    expect(card).to_contain_text(re.compile("Printing|Warming up"))
    expect(card).to_contain_text("slow_vase.gcode")
    other.goto(f"{at}/stop")
    other.get_by_role("button", name="Stop print").click()
    expect(card).to_contain_text(STOPPED)
    other.close()


def test_controls_act_in_place(home: Service, workbench: LinkedPrinter, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{home.base_url}/printers/{workbench.id}/control")
    loads: list[str] = []
    logged: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    page.on("console", lambda message: logged.append(message.text))
    expect(page.get_by_role("img", name="Workbench, webcam")).to_be_in_viewport()

    step = page.get_by_role("button", name="Z +10 mm")
    step.scroll_into_view_if_needed()
    scrolled = page.evaluate("scrollY")
    step.click()
    told = page.get_by_text("The move was sent to the printer.")
    expect(told).to_be_visible()
    expect(step).to_be_focused()
    assert page.evaluate("scrollY") == scrolled > 0

    page.locator("summary", has_text="Set").first.click()
    form = page.locator("#set-hotend")
    hotend = form.get_by_label("Hotend, in °C")
    hotend.fill("999")
    hotend.press("Enter")
    fault = form.get_by_text("Enter a temperature in °C, 0 to 260 whole degrees.")
    expect(fault).to_be_visible()
    expect(hotend).to_be_focused()
    hotend.fill("60")
    hotend.press("Enter")
    question = page.get_by_role("dialog", name=re.compile(r"Heat the hotend .* to 60°\?"))
    question.get_by_role("button", name="Heat hotend to 60°").click()
    expect(page.get_by_text("The new temperature is set.")).to_be_visible()
    expect(fault).to_be_hidden()

    page.get_by_role("button", name="Extrude").click()
    refused = page.get_by_role("dialog", name=re.compile("The printer didn.t do it"))
    expect(refused).to_contain_text("Cold extrusion prevented")
    refused.get_by_role("link", name="Go back").click()
    expect(refused).to_be_hidden()
    assert loads == []
    assert logged == []


def test_apps_are_told_how_the_owner_named_and_turned_a_camera(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    at = f"{home.base_url}/printers/{workbench.id}"
    app = home.way(home.connect(workbench))

    def listed() -> dict[str, Any]:
        answer = call(app, "/service-command-api/webcam/list").json()
        [camera] = cast("dict[str, Any]", answer)["Result"]["Webcams"]
        return cast("dict[str, Any]", camera)

    before = listed()
    page.goto(f"{at}/settings")
    page.get_by_label("Name", exact=True).fill("Over the plate")
    page.get_by_label("Rotation").select_option("90")
    page.get_by_label("Flip vertically").check()
    page.get_by_role("button", name="Save this camera").click()
    expect(page.get_by_text("The cameras are saved.")).to_be_visible()

    wait_for("the relay to hear of it", lambda: "Reported" in listed(), seconds=10)
    after = listed()
    assert (after["Name"], after["Rotation"], after["FlipV"]) == ("Over the plate", 90, True)
    assert after["Reported"]["Name"] == before["Name"]
    page.goto(at)
    expect(page.get_by_role("img", name="Workbench, webcam")).to_have_class(
        re.compile("flip-v +turn-90")
    )
    page.goto(f"{at}/settings")
    page.get_by_label("Name", exact=True).fill("")
    page.get_by_label("Rotation").select_option("0")
    page.get_by_label("Flip vertically").uncheck()
    page.get_by_role("button", name="Save this camera").click()
    wait_for("what the platform tells", lambda: listed() == before, seconds=10)


def test_a_live_link_shows_the_printer_until_it_is_ended(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    page.goto(f"{home.base_url}/connections/live?printer={workbench.id}")
    page.get_by_role("button", name="Create Live Link").click()
    link = page.locator("a[href*='/l/']").first.get_attribute("href")
    assert link is not None
    theirs = page.context.new_page()
    theirs.goto(link)
    expect(theirs.get_by_role("img", name="webcam")).to_have_js_property("naturalWidth", 640)
    expect(theirs.get_by_text("Workbench")).to_have_count(0)
    page.get_by_role("link", name="End", exact=True).last.click()
    page.get_by_role("button", name="End Live Link").click()

    expect(theirs.get_by_text("This live view has ended")).to_be_visible(timeout=60_000)
    theirs.close()


def test_every_page_is_fit_to_be_looked_at(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    home.connect(workbench)
    at = f"{home.base_url}/printers/{workbench.id}"
    upload(page, at)
    page.goto(f"{at}/control")
    look_at(page, "dashboard-control")
    page.goto(f"{at}/files/start?path=gcode/slow_vase.gcode")
    look_at(page, "dashboard-start")
    page.get_by_role("button", name="Start printing").click()
    expect(page.get_by_text("Printing", exact=True).first).to_be_visible()
    pages = {
        "printers": f"{home.base_url}/printers",
        "printer": at,
        "files": f"{at}/files",
        "settings": f"{at}/settings",
        "connections": f"{home.base_url}/connections",
        "history": f"{at}/history",
        "activity": f"{home.base_url}/activity",
        "share": f"{home.base_url}/connections/share",
    }
    for name, address in pages.items():
        page.goto(address)
        look_at(page, f"dashboard-{name}")
    with page.expect_navigation():
        page.get_by_role("button", name="Share").click()
    look_at(page, "dashboard-shared")
    page.goto(f"{at}/stop")
    look_at(page, "dashboard-stop")
    page.get_by_role("button", name="Stop print").click()
    expect(page.get_by_text(STOPPED).first).to_be_visible()


def test_its_own_interface_opens_signed_in_and_cannot_reach_the_dashboard(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    page.goto(f"{home.base_url}/printers/{workbench.id}")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name=re.compile("Open Simulated")).first.click()
    interface = opened.value
    expect(interface).to_have_url(re.compile(r"^http://own-[a-z2-7]+\.localhost:\d+/$"))

    attack = """async (target) => {
        const answer = (path, init) => fetch(target + path, {credentials: "include", ...init})
            .then(async (got) => got.type + (await got.text()).length, () => "refused");
        const form = new URLSearchParams();
        return [
            await answer("/printers"),
            await answer("/printers/PRINTER/pause", {method: "POST", body: form, mode: "no-cors"}),
            window.opener === null,
        ];
    }""".replace("PRINTER", workbench.id)
    read, written, is_alone = interface.evaluate(attack, home.base_url)
    assert read == "refused"
    assert written in ("refused", "opaque0")
    assert is_alone
    interface.close()
    page.reload()
    expect(page.get_by_text("Pausing.")).not_to_be_visible()
