"""The dashboard as an app: manifest, service worker, and the page for no network."""

import json
import re
from pathlib import Path

from PIL import Image

from printreach.web.installable import manifest, service_worker
from printreach.web.security import CONTENT_SECURITY_POLICY
from printreach.web.templating import STATIC
from tests.web.world import Browser, WebWorld, sign_in


def test_every_page_names_the_manifest_and_an_icon_for_a_home_screen(browser: Browser) -> None:
    page = browser.get("/signin").text

    assert '<link rel="manifest" href="/manifest.webmanifest">' in page
    assert '<link rel="apple-touch-icon"' in page
    for mode in ("light", "dark"):
        assert re.search(rf'<meta name="theme-color" [^>]*prefers-color-scheme: {mode}', page)


def test_the_manifest_makes_the_dashboard_an_app_of_this_host_alone(browser: Browser) -> None:
    answer = browser.get("/manifest.webmanifest")
    said = answer.json()

    assert answer.headers["content-type"].startswith("application/manifest+json")
    assert (said["start_url"], said["scope"], said["display"]) == ("/printers", "/", "standalone")
    assert {(icon["sizes"], icon["purpose"]) for icon in said["icons"]} == {
        ("192x192", "any"),
        ("512x512", "any"),
        ("512x512", "maskable"),
    }


def test_each_icon_is_there_in_its_size(browser: Browser) -> None:
    icons = browser.get("/manifest.webmanifest").json()["icons"]
    for icon in icons:
        answer = browser.get(icon["src"])
        name = icon["src"].split("/")[-1].split("?")[0]

        assert answer.headers["content-type"] == "image/png"
        assert Image.open(STATIC / name).size == (int(icon["sizes"].split("x")[0]),) * 2
    assert Image.open(STATIC / "apple-touch-icon.png").size == (180, 180)


def test_a_maskable_icon_has_its_mark_within_the_circle_that_is_kept() -> None:
    icon = Image.open(STATIC / "icon-maskable-512.png").convert("RGB")
    ground, middle = icon.getpixel((0, 0)), 256
    marked = [
        (x - middle) ** 2 + (y - middle) ** 2
        for x in range(0, 512, 4)
        for y in range(0, 512, 4)
        if icon.getpixel((x, y)) != ground
    ]

    assert max(marked) ** 0.5 <= 0.4 * 512


def test_the_worker_may_serve_the_whole_host_and_is_asked_for_again_each_time(
    browser: Browser,
) -> None:
    answer = browser.get("/service-worker.js")

    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "service-worker-allowed" not in answer.headers


def test_the_worker_keeps_what_anybody_gets_and_nothing_else(browser: Browser) -> None:
    first = browser.get("/service-worker.js").text.split(";\n")[0]
    kept = json.loads(first.removeprefix("self.KEPT = "))

    assert kept["page"] == "/offline"
    assert all(path.startswith("/static/") for path in kept["assets"])
    for path in (kept["page"], kept["icon"], kept["badge"], *kept["assets"]):
        assert browser.get(path).status_code == 200


def test_the_worker_changes_with_what_it_keeps(tmp_path: Path) -> None:
    for name in ("service-worker.js", "app.css", "app.js", "icon.svg"):
        (tmp_path / name).write_text("one")
    before = service_worker(tmp_path)
    (tmp_path / "app.css").write_text("two")

    assert service_worker(tmp_path) != before


def test_the_offline_page_is_the_same_for_whoever_is_signed_in(
    world: WebWorld, browser: Browser
) -> None:
    before = browser.get("/offline")
    world.add_account(browser)
    sign_in(browser)

    assert before.status_code == 200
    assert "You are offline" in before.text
    assert browser.get("/offline").text == before.text


def test_the_policy_for_scripts_stays_as_strict_as_it_was() -> None:
    rules = dict(rule.split(" ", 1) for rule in CONTENT_SECURITY_POLICY.split("; "))

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["manifest-src"] == rules["connect-src"] == "'self'"
    assert "worker-src" not in rules  # workers follow script-src


def test_a_manifest_names_icons_by_the_addresses_that_it_is_given() -> None:
    made = manifest(lambda name: f"/elsewhere/{name}")

    assert {icon["src"].split("/")[1] for icon in made["icons"]} == {"elsewhere"}
