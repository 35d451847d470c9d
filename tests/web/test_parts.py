"""The parts of pages, the sections of the signed-in pages, and the addresses of built files."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from printreach.web.templating import asset_addresses, template_environment
from tests.look import samples
from tests.web.world import Browser, WebWorld, sign_in

HOSTILE = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>"
PARTS = template_environment("https://printreach.example")


def drawn(part: str, call: str, **given: object) -> str:
    """Call one macro of templates/parts."""
    name = call.split("(")[0]
    source = f'{{% from "parts/{part}.html" import {name} %}}{{{{ {call} }}}}'
    return PARTS.from_string(source).render(**given)


def assert_harmless(html: str) -> None:
    assert "<script" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;" in html


def test_a_printers_words_stay_text_on_its_card() -> None:
    card = replace(
        samples.WORKBENCH,
        name=HOSTILE,
        file=HOSTILE,
        sentence=HOSTILE,
        emphasis=HOSTILE,
        look_age=HOSTILE,
        webcam={**samples.webcam(), "age": HOSTILE, "picture": HOSTILE},
    )

    assert_harmless(drawn("printer_card", "printer_card(p)", p=card))
    assert_harmless(drawn("printer_card", "farm_row(p)", p=card))


@pytest.mark.parametrize("count", [1, 2])
def test_a_material_systems_words_stay_text(count: int) -> None:
    slot = {**samples.slot("1", HOSTILE, HOSTILE, 5), "id": "s1", "number": HOSTILE}
    unit = {"name": HOSTILE, "about": [HOSTILE], "slots": [slot]}
    tool = {"name": HOSTILE, "about": HOSTILE, "routes": [{"slot": "s1", "loaded": True}]}

    assert_harmless(drawn("materials", "materials(u, [t])", u=[unit] * count, t=tool))


def test_an_apps_words_stay_text() -> None:
    app = {"name": HOSTILE, "logo": HOSTILE}

    assert_harmless(drawn("portal", "pair(app)", app=app))
    assert_harmless(drawn("portal", "app_logo(app)", app={**app, "name": "L"}) + "&lt;script&gt;")


def test_what_was_typed_comes_back_as_text() -> None:
    html = drawn("forms", "field('a', 'A', value=v, errors={'a': v}, hint=v)", v=HOSTILE)

    assert_harmless(html)


def test_a_password_never_comes_back() -> None:
    html = drawn("forms", "field('password', 'Password', value='secret', type='password')")

    assert "secret" not in html


def test_what_is_unknown_is_never_zero() -> None:
    assert "unknown" in drawn("readings", "temperature('Bed', none, none)")
    assert "unknown" in drawn("readings", "big_percent(none)")
    assert "aria-valuenow" not in drawn("readings", "progress(none)")
    unit = {"name": "Unit", "about": [], "slots": [samples.slot("1", "PLA")]}
    assert "amount unknown" in drawn("materials", "materials([u], [])", u=unit)


def test_a_spool_of_which_nothing_is_known_says_so_once() -> None:
    unit = {"name": "Unit", "about": [], "slots": [samples.slot("1")]}

    assert drawn("materials", "materials([u], [])", u=unit).lower().count("unknown") == 1


def test_a_heater_without_target_is_off() -> None:
    assert ", off" in drawn("readings", "temperature('Bed', 21, 0)")


@pytest.mark.parametrize(
    ("quality", "words"),
    [(1, "Possible failure"), (4, "Possible issue"), (7, "Good"), (9, "Great"), (10, "Perfect")],
)
def test_a_quality_is_said_in_words_and_out_of_ten(quality: int, words: str) -> None:
    strip = drawn("detector", f"in_a_line({quality})")

    assert f">{words}, quality {quality} of 10<" in strip


def test_a_part_that_is_given_too_little_says_so() -> None:
    with pytest.raises(UndefinedError):
        drawn("printer_card", "printer_card(p)")


def test_every_section_has_its_page(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)
    navigations = re.findall(r"<nav.*?</nav>", browser.get("/account").text, re.DOTALL)
    places = {place for one in navigations for place in re.findall(r'href="([^"]+)"', one)}

    assert {"/printers", "/connections", "/account"} <= places
    for place in places:
        assert browser.get(place).status_code == 200, place


def test_an_address_changes_with_the_content(tmp_path: Path) -> None:
    (tmp_path / "app.css").write_text("a{}")
    before = asset_addresses(tmp_path)("app.css")
    (tmp_path / "app.css").write_text("b{}")

    assert before.startswith("/static/app.css?v=")
    assert asset_addresses(tmp_path)("app.css") != before


def test_without_a_build_pages_still_stand_and_the_log_says_what_to_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asset = asset_addresses(tmp_path)

    assert asset("app.css") == "/static/app.css"
    assert "make install" in caplog.text
