"""The presets of an account on their page, and those that a printer's controls offer."""

from datetime import timedelta
from html import escape
from urllib.parse import quote

import pytest

from printreach.contract.status import State
from printreach.rules.printers.members import Role
from tests.fakes.printer import EVERY_FEATURE
from tests.web.printers.conftest import Home, printing
from tests.web.printers.members import CLEO, browser_of, let_in
from tests.web.world import send

PAGE = "/account/presets"
ASA = {"name": "ASA", "hotend": "250", "bed": "70", "chamber": "40"}
TOLD = [{"Name": "PLA", "ToolC": 205.5, "BedC": 55.0}, {"Name": "Dry box", "BedC": 45.0}]
HOSTILE = "<script>alert(1)</script>&'\""


@pytest.fixture
def idle(home: Home) -> Home:
    home.says(printing(state=State.IDLE, features=EVERY_FEATURE))
    return home


def change(home: Home, **fields: str) -> int:
    return send(home.browser, f"{PAGE}/change", **fields).status_code


def offered(home: Home) -> str:
    return home.get("/control").text.partition("Temperatures</h2>")[2].partition("</section>")[0]


def test_an_added_preset_is_offered_on_every_printer_of_the_account(idle: Home) -> None:
    assert change(idle, **ASA) == 303

    assert "Hotend 250°, bed 70°, chamber 40°" in idle.browser.get(PAGE).text
    assert 'name="preset" value="ASA"><span>ASA <small>250°, 70°</small>' in offered(idle)


def test_a_preset_is_changed_moved_and_removed(idle: Home) -> None:
    change(idle, name="PETG HF", hotend="240", bed="70", replaced="PETG")
    send(idle.browser, f"{PAGE}/up", name="PETG HF")
    send(idle.browser, f"{PAGE}/remove", name="TPU")

    text = offered(idle)
    assert text.count('name="preset"') == 2
    assert text.index('value="PETG HF"') < text.index('value="PLA"')


def test_all_presets_can_be_removed(idle: Home) -> None:
    for name in ("PLA", "PETG", "TPU"):
        send(idle.browser, f"{PAGE}/remove", name=name)

    assert "You have no presets." in idle.browser.get(PAGE).text
    assert 'name="preset"' not in offered(idle)


def test_what_is_wrong_is_told_at_its_field_and_what_was_typed_stays(idle: Home) -> None:
    answer = send(idle.browser, f"{PAGE}/change", name="ABS", hotend="240", bed="110")

    assert answer.status_code == 400
    assert 'id="bed-fault"' in answer.text
    assert "For safety, more can only be set at the printer itself." in answer.text
    assert 'value="110"' in answer.text


def test_a_preset_that_was_removed_meanwhile_is_not_changed(idle: Home) -> None:
    answer = send(idle.browser, f"{PAGE}/change", **ASA, replaced="Nylon")

    assert answer.status_code == 400
    assert "This preset has since been removed." in answer.text


def test_hostile_names_are_text_on_every_page(idle: Home) -> None:
    idle.world.printers.answers["/presets"] = {"Presets": [{"Name": HOSTILE, "ToolC": 1.0}]}
    assert change(idle, name=HOSTILE, hotend="200") == 303

    pages = (
        idle.browser.get(PAGE).text,
        idle.browser.get(f"{PAGE}/change?name={quote(HOSTILE)}").text,
        idle.get("/control").text,
        idle.send("/preset", preset=HOSTILE).text,
        idle.send("/preset", printer_preset=HOSTILE).text,
    )
    for page in pages:
        assert "<script>alert" not in page
        assert escape(HOSTILE, quote=False).partition("'")[0] in page


def test_a_printers_own_presets_stand_apart(idle: Home) -> None:
    idle.world.printers.answers["/presets"] = {"Presets": TOLD}
    text = offered(idle)

    assert "Presets of the printer</p>" in text
    assert 'name="printer_preset" value="PLA"><span>PLA <small>206°, 55°</small>' in text
    assert 'name="printer_preset" value="Dry box"><span>Dry box <small>bed 45°</small>' in text
    assert 'name="preset" value="PLA"><span>PLA <small>210°, 60°</small>' in text


def test_a_printers_own_preset_heats_after_one_question(idle: Home) -> None:
    idle.world.printers.answers["/presets"] = {"Presets": TOLD}
    asked = idle.send("/preset", printer_preset="Dry box")
    assert "Set these temperatures: bed 45°?" in asked.text
    assert idle.orders == []
    idle.send("/preset", printer_preset="Dry box", sure="bed 45°")

    assert [order.arguments for order in idle.orders] == [b'{"BedC":45.0}']


def test_a_preset_that_was_changed_meanwhile_is_asked_again(idle: Home) -> None:
    change(idle, name="PLA", hotend="220", bed="0", replaced="PLA")
    asked = idle.send("/preset", preset="PLA", sure="hotend 210°, bed 60°")

    assert "Set these temperatures: hotend 220°, bed off?" in asked.text
    assert idle.orders == []


def test_what_an_older_or_hostile_agent_answers_offers_nothing(idle: Home) -> None:
    for answer in ({}, {"Presets": [{"Name": "x" * 41, "ToolC": 1.0}]}, {"Presets": [1]}):
        idle.world.printers.answers["/presets"] = answer
        idle.world.clock.advance(timedelta(minutes=1))
        idle.says(printing(state=State.IDLE, features=EVERY_FEATURE))
        assert "Presets of the printer" not in offered(idle)


def test_a_printer_is_asked_for_its_presets_once_in_a_while(idle: Home) -> None:
    for _ in range(3):
        idle.get("/control")

    assert idle.world.printers.questions.count("/presets") == 1


def test_a_member_with_control_uses_the_owners_presets_and_changes_none(idle: Home) -> None:
    let_in(idle, CLEO, Role.CONTROL)
    change(idle, **ASA)
    with browser_of(idle, CLEO) as cleo:
        send(cleo, f"{PAGE}/change", name="Mine", hotend="99")
        send(cleo, f"{PAGE}/remove", name="PLA")
        controls = cleo.get(f"{idle.path}/control").text
        asked = send(cleo, f"{idle.path}/preset", preset="ASA").text

    assert 'value="ASA"' in controls
    assert 'value="PLA"' in controls
    assert 'value="Mine"' not in controls
    assert "Set these temperatures: hotend 250°" in asked
    assert 'value="Mine"' not in offered(idle)
