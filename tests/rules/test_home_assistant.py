"""The messages about a printer to Home Assistant."""

import json
from dataclasses import replace

from printreach.contract.status import (
    CurrentPrint,
    JobStatus,
    ServiceStatus,
    State,
    StatusResult,
    Temps,
    WebcamList,
)
from printreach.rules.home_assistant import Topics, config_of, is_of_installation, state_of
from printreach.rules.printers import Printer
from tests.fakes.clock import NOON

BASE = "https://reach.example"
TOPICS = Topics()
PRINTER = Printer(
    printer_id="p1",
    account_id="ada",
    name='Work"bench {{ 7 * 7 }}',
    public_key=b"k" * 32,
    linked_at=NOON,
    platform="octoprint",
)


def status(current: CurrentPrint, state: State = State.PRINTING) -> StatusResult:
    return StatusResult(
        job_status=JobStatus(state=state, current_print=current),
        service_status=ServiceStatus(),
        platform_version="1",
        features=0,
        list_webcams=WebcamList(),
    )


def test_a_printer_appears_with_everything_that_is_told_of_it() -> None:
    config = json.loads(config_of(PRINTER, TOPICS, BASE, "1.0"))

    told = json.loads(state_of(status(CurrentPrint())))
    templates = {
        one["value_template"].split("value_json.")[1].split(" ")[0]
        for one in config["components"].values()
        if "value_template" in one
    }
    assert templates == set(told)
    assert config["device"]["name"] == PRINTER.name
    assert {one["topic"] for one in config["availability"]} == {
        "printreach/status",
        "printreach/p1/availability",
    }


def test_every_part_has_an_id_of_its_own() -> None:
    other = replace(PRINTER, printer_id="p2")
    ids = [
        part["unique_id"]
        for printer in (PRINTER, other)
        for part in json.loads(config_of(printer, TOPICS, BASE, "1"))["components"].values()
    ]

    assert len(ids) == len(set(ids))


def test_the_buttons_send_what_is_listened_to() -> None:
    parts = json.loads(config_of(PRINTER, TOPICS, BASE, "1"))["components"]
    buttons = [part for part in parts.values() if part["platform"] == "button"]

    assert {part["payload_press"] for part in buttons} == {"PAUSE", "RESUME", "CANCEL"}
    for part in buttons:
        assert TOPICS.printer_of_order(part["command_topic"]) == "p1"


def test_what_is_unknown_is_told_as_that_and_never_as_zero() -> None:
    told = json.loads(state_of(status(CurrentPrint(), State.IDLE)))

    assert told["state"] == "idle"
    for unknown in ("progress", "file", "time_left_min", "layer", "layers", "chamber", "error"):
        assert told[unknown] is None


def test_a_print_is_told_in_the_units_of_its_sensors() -> None:
    now = CurrentPrint(
        progress=62.44,
        time_left_sec=4320,
        file_name="vase.gcode",
        current_layer=148,
        total_layers=240,
        temps=Temps(hotend_actual=215.23, hotend_target=215, bed_actual=60, chamber_actual=31.26),
    )

    told = json.loads(state_of(status(now)))

    assert told == {
        "state": "printing",
        "progress": 62.4,
        "file": "vase.gcode",
        "time_left_min": 72,
        "layer": 148,
        "layers": 240,
        "hotend": 215.2,
        "hotend_target": 215.0,
        "bed": 60.0,
        "bed_target": 0.0,
        "chamber": 31.3,
        "error": None,
    }


def test_only_what_this_installation_put_there_is_its_own() -> None:
    ours = config_of(PRINTER, TOPICS, BASE, "1")

    assert is_of_installation(ours, BASE)
    assert not is_of_installation(ours, "https://other.example")
    for strange in (b"", b"[]", b"{}", b'{"origin": "x"}', b"\xff", b'{"origin": {}}'):
        assert not is_of_installation(strange, BASE)


def test_topics_of_others_are_nobodys_printer() -> None:
    assert TOPICS.printer_of_config(TOPICS.config("p1")) == "p1"
    for topic in ("homeassistant/device/other_p1/config", "config", "", "/"):
        assert TOPICS.printer_of_config(topic) is None
    for topic in ("printreach/p1/state", "printreach/order", "printreach/a/b/order", ""):
        assert TOPICS.printer_of_order(topic) is None


def test_what_others_put_on_the_broker_is_not_ours_however_deep_it_is() -> None:
    assert not is_of_installation(b"[" * 100_000, "https://reach.example")
