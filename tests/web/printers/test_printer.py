"""One printer's pages: their content, the orders of their forms, and their refusals."""

import re
from datetime import timedelta

import pytest
from msgspec import structs

from printreach.contract.materials import (
    Capabilities,
    Material,
    MaterialSystem,
    Route,
    Source,
    Tool,
    Unit,
)
from printreach.contract.status import DetectorStatus, Light, State, WebcamEntry, WebcamList
from printreach.contract.temperatures import TemperatureHistory
from printreach.ports.printer_http import PrinterRefusal
from tests.fakes.printer_http import OFFLINE
from tests.rules.detection.test_jpeg import picture
from tests.web.printers.conftest import Home, printing
from tests.web.world import BASE_URL

UNKNOWN = "a" * 32
FORMS = [
    ("/pause", {}),
    ("/resume", {}),
    ("/stop", {}),
    ("/heat", {"bed": "0"}),
    ("/move", {"step": "X+10"}),
    ("/home", {}),
    ("/extrude", {"length": "5"}),
    ("/light", {"name": "case", "on": "no"}),
]
PAGES = ["", "/control", "/stop", "/events", "/webcam/still", "/webcam/stream"]


# --- pages ----------------------------------------------------------------------------------------


def test_the_quick_view_shows_the_print(home: Home) -> None:
    page = home.get().text

    for words in ("Workbench", "62<small>%", "1 h 12 min left", "Layer 148 of 240", "215°"):
        assert words in page
    assert f'src="{home.path}/webcam/stream?index=0"' in page


def test_what_a_printer_cannot_do_has_no_control(home: Home) -> None:
    home.says(printing(state=State.IDLE))
    every = home.get("/control").text
    home.world.clock.advance(timedelta(seconds=10))
    home.says(printing(state=State.IDLE, features=0))
    none = home.get("/control").text

    for path in ("/heat", "/move", "/home", "/extrude", "/light"):
        assert f'action="{home.path}{path}"' in every
        assert f'action="{home.path}{path}"' not in none


def test_nothing_is_moved_while_it_prints(home: Home) -> None:
    page = home.get("/control").text

    assert f'action="{home.path}/heat"' in page
    for path in ("/move", "/home", "/extrude"):
        assert f'action="{home.path}{path}"' not in page


def test_a_printer_that_was_lost_shows_what_was_last_known_and_no_controls(home: Home) -> None:
    home.get()
    home.world.clock.advance(timedelta(seconds=240))
    home.world.printers.statuses[home.printer_id] = OFFLINE
    page = home.get().text

    assert "The print may still be running." in page
    assert "Last seen" in page
    assert "Offline" in page
    for path, _ in FORMS:
        assert f'action="{home.path}{path}"' not in page


def test_a_printer_without_a_camera_says_so(home: Home) -> None:
    home.says(printing(webcams=0))

    assert "No camera found" in home.get().text


def test_a_camera_that_is_switched_off_says_so_and_is_asked_for_no_picture(home: Home) -> None:
    cameras = [WebcamEntry(name="Bed"), WebcamEntry(name="Door", enabled=False)]
    home.says(structs.replace(printing(), list_webcams=WebcamList(webcams=cameras)))
    page, door = home.get().text, home.get("?camera=1").text

    assert f'src="{home.path}/webcam/stream?index=0"' in page
    assert ">Door, switched off</span></a>" in page
    assert "This camera is switched off at the printer" in door
    assert "/webcam/stream" not in door
    assert "Door, switched off" in home.get("/detector").text


def test_what_the_detector_saw_is_drawn_and_said(home: Home) -> None:
    detector = DetectorStatus(
        last_score=82.0,
        score_history=[3.0, 5.0, 82.0],
        time_since_last_score_sec=241.0,
        time_since_last_pause_sec=240.0,
    )
    home.says(printing(state=State.PAUSED, detector=detector))
    page = home.get().text

    assert "Paused by failure detection" in page
    assert "4 min ago, at quality 2 of 10. Look before you resume." in page


def test_a_persons_pause_after_a_resume_is_not_attributed_to_the_detector(home: Home) -> None:
    detector = DetectorStatus(
        last_score=5.0,
        score_history=[82.0, 5.0],
        time_since_last_score_sec=12.0,
        time_since_last_pause_sec=240.0,
    )
    home.says(printing(state=State.PAUSED, detector=detector))
    page = home.get().text

    assert "Resume it when you are ready." in page
    assert "Paused by failure detection" not in page


def test_materials_are_drawn_and_joined_by_id_alone(home: Home) -> None:
    system = MaterialSystem(
        capabilities=Capabilities(),
        sources=[
            Source(
                id="s1",
                index=0,
                name="1",
                unit_id="u",
                material=Material(name="PLA Jade", color_hex='"/><script>', remaining_percent=62.0),
            )
        ],
        tools=[Tool(id="t", index=0, name="Hotend", nozzle_diameter_mm=0.4)],
        units=[Unit(id="u", index=0, name="Box", humidity_percent=24.0)],
        routes=[Route(source_id="s1", tool_id="t", state="loaded")],
    )
    home.says(printing(material_system=system))
    page = home.get().text

    for words in ("PLA Jade", "62%", "24% humidity", "0.4 mm", "fed by slot 1"):
        assert words in page
    assert "<script>" not in page.partition("<main")[2]


def test_temperatures_of_an_older_agent_are_charted_as_far_as_somebody_looked(home: Home) -> None:
    home.world.printers.answers["/temperatures"] = PrinterRefusal(754, "There is no such command.")
    assert "<polyline" not in home.get().text
    home.world.clock.advance(timedelta(seconds=20))
    page = home.get().text

    lines = re.findall(r'<polyline class="of-(\w+)" points="([^"]+)"', page)
    assert lines == [("hotend", "967,28 1000,28 "), ("bed", "967,152 1000,152 ")]


HISTORY = TemperatureHistory(
    age_sec=[22, 11, 1],
    bed_actual=[20, 21, 60],
    bed_target=[60, 60, 60],
    hotend_actual=[22, 24, 215],
    hotend_target=[0, 0, 215],
    chamber_actual=[None, None, None],
    chamber_target=[None, None, None],
)


def test_temperatures_of_the_time_before_anybody_looked_are_charted(home: Home) -> None:
    home.world.printers.answers["/temperatures"] = HISTORY
    home.world.clock.advance(timedelta(seconds=25))
    page = home.get().text

    assert "Temperatures of the last 10 min." in page
    assert "from 22° to 215°." in page
    assert "Chamber" not in page
    assert "215° of 215°" in page


def test_temperatures_of_the_time_before_the_printer_was_linked_are_not_charted(
    home: Home,
) -> None:
    home.world.printers.answers["/temperatures"] = HISTORY

    assert "<polyline" not in home.get().text


# --- orders ---------------------------------------------------------------------------------------


def test_heat_is_asked_about_first(home: Home) -> None:
    answer = home.send("/heat", bed="65")

    assert "Heat the bed from 60° to 65°?" in answer.text
    assert "Heat bed to 65°" in answer.text
    assert "Keep 60°" in answer.text
    assert home.orders == []


def test_stopping_is_asked_about_first(home: Home) -> None:
    page = home.get("/stop").text

    assert "Stop vase.gcode?" in page
    assert "lose 1 h 57 min of printing." in page
    assert "Don\u2019t stop" in page
    assert home.orders == []


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/heat", {}),
        ("/heat", {"bed": "60", "hotend": "200"}),
        ("/heat", {"bed": "76", "sure": "yes"}),
        ("/heat", {"hotend": "-1"}),
        ("/heat", {"hotend": "nan"}),
        ("/heat", {"hotend": "1e999"}),
        ("/move", {}),
        ("/move", {"step": "E5"}),
        ("/move", {"step": "X5000"}),
        ("/extrude", {"length": "inf"}),
    ],
)
def test_what_makes_no_sense_reaches_no_printer(
    home: Home, path: str, fields: dict[str, str]
) -> None:
    assert home.send(path, **fields).status_code == 400
    assert home.orders == []


@pytest.mark.parametrize(
    ("path", "fields", "typed", "words"),
    [
        ("/heat", {"hotend": "999"}, "999", "in °C, 0 to 260 whole degrees."),
        ("/heat", {"hotend": "warm"}, "warm", "in °C, 0 to 260 whole degrees."),
        ("/heat", {"bed": "-1"}, "-1", "in °C, 0 to 75 whole degrees."),
        ("/extrude", {"length": "100000"}, "100000", "Enter a length of up to "),
        ("/extrude", {"length": "some"}, "some", "Enter a length of up to "),
    ],
)
def test_a_number_out_of_range_is_told_at_its_field_and_kept(
    home: Home, path: str, fields: dict[str, str], typed: str, words: str
) -> None:
    home.says(printing(state=State.IDLE))
    answer = home.send(path, **fields)

    (name,) = fields
    assert answer.status_code == 400
    assert words in answer.text
    assert f'id="{name}" name="{name}" type="text" value="{typed}"' in answer.text
    assert "DistanceMm" not in answer.text
    assert "ToolC" not in answer.text


def test_the_hint_of_a_temperature_asks_for_whole_degrees(home: Home) -> None:
    page = home.get("/control").text

    assert "0 to 260 whole degrees; 0 is off" in page
    assert "0 to 75 whole degrees; 0 is off" in page


@pytest.mark.parametrize(
    ("name", "words"),
    [("light", "Switch light off"), ("case", "Switch case light off"),
     ("Chamber light", "Switch Chamber light off")],
)  # fmt: skip
def test_the_controls_say_the_name_of_a_light_and_the_quick_view_does_not(
    home: Home, name: str, words: str
) -> None:
    said = printing()
    lights = [Light(name=name, on=True)]
    home.says(structs.replace(said, job_status=structs.replace(said.job_status, lights=lights)))

    assert "<span>Switch light off</span>" in home.get().text
    assert f"<span>{words}</span>" in home.get("/control").text


@pytest.mark.parametrize("path", ["/heat", "/move", "/home", "/extrude"])
def test_the_address_of_a_form_leads_back_to_the_controls(home: Home, path: str) -> None:
    answer = home.get(path)

    assert (answer.status_code, answer.headers["location"]) == (303, f"{home.path}/control")


def test_a_printers_refusal_is_told_in_its_words_as_text(home: Home) -> None:
    home.world.printers.answers["/pause"] = PrinterRefusal(786, "No print <b>runs</b>.")
    answer = home.send("/pause")

    assert answer.status_code == 409
    assert "No print &lt;b&gt;runs&lt;/b&gt;." in answer.text


def test_what_a_page_says_once_is_a_word_of_ours(home: Home) -> None:
    assert "hostile" not in home.get("?said=hostile%20words").text


# --- whom they refuse -----------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_another_accounts_printer_is_as_one_that_does_not_exist(
    home: Home, bobs_printer: str, page: str
) -> None:
    theirs = home.browser.get(f"/printers/{bobs_printer}{page}")
    unknown = home.browser.get(f"/printers/{UNKNOWN}{page}")

    assert theirs.status_code == unknown.status_code == 404
    assert theirs.text == unknown.text
    assert home.world.printers.asks[bobs_printer] == 0


@pytest.mark.parametrize(("path", "fields"), FORMS)
def test_another_accounts_printer_takes_no_orders(
    home: Home, bobs_printer: str, path: str, fields: dict[str, str]
) -> None:
    theirs = home.browser.post(
        f"/printers/{bobs_printer}{path}", data=fields, headers={"origin": BASE_URL}
    )
    unknown = home.browser.post(
        f"/printers/{UNKNOWN}{path}", data=fields, headers={"origin": BASE_URL}
    )

    assert theirs.status_code == unknown.status_code == 404
    assert theirs.text == unknown.text
    assert home.orders == []


@pytest.mark.parametrize(
    "origin", [None, "null", "https://own-abc.tunnel.example", "http://printreach.example"]
)
@pytest.mark.parametrize(("path", "fields"), FORMS)
def test_a_form_of_another_page_orders_nothing(
    home: Home, path: str, fields: dict[str, str], origin: str | None
) -> None:
    headers = {} if origin is None else {"origin": origin}
    answer = home.browser.post(home.path + path, data=fields, headers=headers)

    assert answer.status_code == 403
    assert home.orders == []


def test_no_order_is_given_by_a_link(home: Home) -> None:
    for path, _ in FORMS:
        home.get(path)

    assert home.orders == []


# --- webcams --------------------------------------------------------------------------------------


def test_a_still_is_a_picture_and_nothing_else(home: Home) -> None:
    home.world.printers.raw["/webcam/snapshot"] = ("image/jpeg", picture())
    answer = home.get("/webcam/still")

    assert answer.status_code == 200
    assert answer.content == home.world.printers.raw["/webcam/snapshot"][1]
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "application/javascript", ""])
def test_a_camera_that_sends_something_else_is_no_camera(home: Home, kind: str) -> None:
    home.world.printers.raw["/webcam/snapshot"] = (kind, b"<script>alert(1)</script>")
    home.world.printers.raw["/webcam/stream"] = (kind, b"<script>alert(1)</script>")

    for path in ("/webcam/still", "/webcam/stream"):
        answer = home.get(path)
        assert answer.status_code == 404
        assert "alert" not in answer.text


def test_a_stream_is_shown_inside_a_page_alone(home: Home) -> None:
    kind = "multipart/x-mixed-replace; boundary=frame"
    home.world.printers.raw["/webcam/stream"] = (kind, b"--frame\r\n\r\n")
    shown = home.browser.get(home.path + "/webcam/stream", headers={"sec-fetch-dest": "image"})
    opened = home.browser.get(home.path + "/webcam/stream", headers={"sec-fetch-dest": "document"})

    assert (shown.status_code, shown.content) == (200, b"--frame\r\n\r\n")
    assert shown.headers["content-type"] == 'multipart/x-mixed-replace; boundary="frame"'
    assert opened.status_code == 403


def test_a_picture_that_cannot_be_had_is_404_with_the_reason(home: Home) -> None:
    answer = home.get("/webcam/still?index=7")

    assert answer.status_code == 404
