"""The Quick View: what comes first, a printer that warms up, and one that is offline."""

import re
import secrets
from datetime import timedelta
from functools import partial

import pytest
from msgspec import structs

from printreach.contract.events import EventType
from printreach.contract.status import State, StatusResult, Temps, WebcamEntry, WebcamList
from printreach.store.relay import SqlAgents
from tests.fakes.printer import EVERY_FEATURE
from tests.fakes.printer_http import OFFLINE
from tests.rules.detection.test_jpeg import picture
from tests.web.connections.conftest import SNAPSHOT
from tests.web.printers.conftest import Home, printing
from tests.web.prints.test_history import hear, told
from tests.web.world import run


def headings(page: str) -> list[str]:
    return re.findall(r"<h[123][^>]*>([^<]*)<", page)


def test_the_controls_of_a_print_come_first_below_the_head_in_the_order_of_the_tab_key(
    home: Home,
) -> None:
    below = home.get().text.partition('<div class="quick-view">')[2]
    found = re.findall(r"<(a|button|summary)\b[^>]*>(.*?)</\1>", below)
    order = [re.sub(r"<[^>]*>", "", words).strip() for _, words in found]

    assert order[:2] == ["Pause", "Stop print"]


def test_a_link_for_keyboards_leads_to_the_controls(home: Home) -> None:
    page = home.get().text
    first = re.search(r'<body.*?<a class="skip" href="#([^"]*)">', page, re.DOTALL)

    assert first is not None
    assert f'id="{first[1]}"' in page
    assert 'tabindex="-1"' in page.partition(f'id="{first[1]}"')[2].partition(">")[0]


def test_failure_detection_has_one_block(home: Home) -> None:
    page = home.get().text

    assert headings(page).count("Failure detection") == 0
    assert page.count("About failure detection") == 1
    assert page.index('id="part-temperatures"') < page.index('id="part-print"')


def heating(actual_c: float) -> StatusResult:
    said = printing(state=State.WARMING_UP)
    temps = Temps(hotend_actual=actual_c, hotend_target=240, bed_actual=71, bed_target=75)
    current = structs.replace(said.job_status.current_print, progress=0.0, temps=temps)
    job = structs.replace(said.job_status, current_print=current, sub_state="Heating")
    return structs.replace(said, job_status=job)


@pytest.mark.parametrize("begin", ['id="part-now"', "<article"])
def test_a_printer_that_warms_up_shows_how_far_its_heaters_are(home: Home, begin: str) -> None:
    home.says(heating(148))
    page = home.get().text if "part" in begin else home.browser.get("/printers").text
    shown = page.partition(begin)[2].partition('id="part-temperatures"')[0]

    assert shown.count('class="heating"') == 2
    assert 'aria-label="Hotend" aria-valuemin="0" aria-valuemax="100" aria-valuenow="61"' in shown
    assert "#warning" not in shown, "nothing is wrong"
    assert 'class="huge"' not in shown


def test_a_print_that_warms_up_has_no_bar_and_no_check_to_wait_for(home: Home) -> None:
    home.says(heating(148))
    shown = home.get().text.partition('id="part-print"')[2].partition("</section>")[0]

    assert "vase.gcode" in shown
    assert 'class="bar at-warmingup"' not in shown
    assert "First check" not in shown


def test_a_printer_that_is_offline_says_what_to_check_and_what_was_known(home: Home) -> None:
    connect(home, lan_ip="192.168.1.20")
    home.get()
    home.world.printers.statuses[home.printer_id] = OFFLINE
    home.world.clock.advance(timedelta(minutes=1))
    page = home.get().text

    assert "What to check" in page
    assert "Last known: 62%, hotend 215°, bed 60°." in page
    assert 'href="http://192.168.1.20:8765"' in page


def test_advice_for_a_printer_that_is_offline_names_the_port_of_its_agents_page(
    home: Home,
) -> None:
    connect(home, lan_ip="192.168.1.20", lan_port=8790)
    home.world.printers.statuses[home.printer_id] = OFFLINE

    assert 'href="http://192.168.1.20:8790"' in home.get().text


def test_advice_for_a_printer_whose_agent_has_no_page_names_no_address(home: Home) -> None:
    connect(home, lan_ip="192.168.1.20", lan_port=0)
    home.world.printers.statuses[home.printer_id] = OFFLINE
    page = home.get().text

    assert "Is its network up?" in page
    assert "On the same network" not in page


@pytest.mark.parametrize("reported", [None, "javascript:alert(1)", "host.example"])
def test_an_address_that_is_none_is_no_link(home: Home, reported: str | None) -> None:
    connect(home, lan_ip=reported)
    home.world.printers.statuses[home.printer_id] = OFFLINE
    page = home.get().text

    assert "What to check" in page
    assert ":8765" not in page


def connect(home: Home, lan_ip: str | None, lan_port: int | None = None) -> None:
    agents, at = SqlAgents(home.world.store, secrets.token_bytes), home.world.clock.now()
    run(
        home.browser,
        partial(
            agents.agent_connected,
            home.printer_id,
            "node",
            at,
            lan_ip=lan_ip,
            lan_port=lan_port,
            agent_version=None,
            platform="octoprint",
        ),
    )


def ended_print(home: Home) -> str:
    """A print that ended, of whose end there is a picture; return the picture's address."""
    home.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    hear(home, told(home, EventType.STARTED), told(home, EventType.COMPLETE, duration_sec=5000))
    shown = re.search(r'src="(/snapshots/[^"]*)"', home.get("/history").text)
    assert shown is not None
    return shown[1]


def now(page: str) -> str:
    return page.partition('id="part-now"')[2].partition("</section>")[0]


@pytest.mark.parametrize("state", [State.IDLE, State.COMPLETE])
def test_an_idle_printer_shows_how_its_last_print_ended(home: Home, state: State) -> None:
    address = ended_print(home)
    home.world.clock.advance(timedelta(seconds=5))
    home.says(turned(printing(state=state, features=EVERY_FEATURE)))
    shown = now(home.get().text)

    assert f'src="{address}" alt="vase.gcode, at its end"' in shown
    assert "turn-90" in shown
    assert shown.count("Last print: vase.gcode") == 1
    assert f'href="{home.path}/history/print?id=print-0"' in shown
    assert home.browser.get(address).headers["content-type"] == "image/jpeg"


def test_no_picture_of_the_last_print_is_shown_while_another_runs(home: Home) -> None:
    ended_print(home)
    assert "<img" not in now(home.get().text)


def test_an_idle_printer_whose_last_print_has_no_picture_shows_none(home: Home) -> None:
    hear(home, told(home, EventType.STARTED), told(home, EventType.COMPLETE))
    home.says(printing(state=State.IDLE))
    shown = now(home.get().text)

    assert "Nothing is printing." in shown
    assert "<img" not in shown


def turned(said: StatusResult) -> StatusResult:
    webcams = [WebcamEntry(name="Bed", rotation=90)]
    return structs.replace(said, list_webcams=WebcamList(webcams=webcams))
