"""Pages of a printer whose agent makes up its numbers."""

import msgspec
import pytest

from printreach.contract.codec import encode
from printreach.contract.status import CurrentPrint, Light, Temps, WebcamEntry, WebcamList
from printreach.hub.printers.live import read_status
from printreach.languages import NAMES
from printreach.ports.printer_http import PrinterRefusal
from tests.web.printers.conftest import Home, printing

HUGE = 10**400
FAR = 1e308


@pytest.mark.parametrize("language", NAMES)
@pytest.mark.parametrize("sign", [1, -1])
def test_every_page_is_drawn_whatever_numbers_an_agent_makes_up(
    home: Home, sign: int, language: str
) -> None:
    change, status = msgspec.structs.replace, printing()
    now = CurrentPrint(
        progress=sign * FAR,
        duration_sec=sign * HUGE,
        time_left_sec=sign * HUGE,
        file_name="vase.gcode",
        current_layer=sign * HUGE,
        total_layers=sign * HUGE,
        temps=Temps(hotend_actual=sign * FAR, bed_actual=sign * FAR, bed_target=sign * FAR),
    )
    home.says(
        change(
            status,
            job_status=change(status.job_status, current_print=now),
            features=HUGE,
            service_status=change(status.service_status, print_start_time_sec=sign * HUGE),
        )
    )

    for page in (home.path, f"{home.path}/control", "/printers"):
        answer = home.browser.get(page, headers={"Accept-Language": language})
        assert answer.status_code == 200, page


def test_a_status_with_a_number_beyond_the_limit_is_refused_in_a_sentence(home: Home) -> None:
    sent = encode({"Result": printing()}).replace(
        b'"TimeLeftSec":4320', b'"TimeLeftSec":1%0300d' % 0
    )
    told = read_status(sent)

    assert isinstance(told, PrinterRefusal)
    assert "Result.JobStatus.CurrentPrint.TimeLeftSec" in told.sentence


def test_pages_of_the_largest_status_that_is_allowed_are_drawn(home: Home) -> None:
    change, status = msgspec.structs.replace, printing()
    lights = [Light(name=f"{number}" + "x" * 500, on=True) for number in range(64)]
    cameras = [WebcamEntry(name=f"{number}" + "x" * 500, rotation=HUGE) for number in range(32)]
    home.says(
        change(
            status,
            job_status=change(status.job_status, lights=lights),
            list_webcams=WebcamList(webcams=cameras, default_index=HUGE),
        )
    )

    for page in ("", "/control"):
        answer = home.browser.get(home.path + page)
        assert answer.status_code == 200, page
        assert len(answer.content) < 1_000_000
