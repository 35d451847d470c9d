"""The popup of a smart pause on the printer's page."""

import pytest
from msgspec import structs

from printreach.contract.status import ServiceStatus, State, StatusResult, Temps
from printreach.contract.unset import UNSET
from tests.web.printers.conftest import Home, printing


def paused(*, popup: bool, hotend_target: float = 0.0) -> StatusResult:
    """Paused, with the popup or without it; the bed stays at 60 °C."""
    status = printing(state=State.PAUSED)
    temps = Temps(hotend_actual=120, hotend_target=hotend_target, bed_actual=60, bed_target=60)
    print_ = structs.replace(status.job_status.current_print, temps=temps)
    return structs.replace(
        status,
        job_status=structs.replace(status.job_status, current_print=print_),
        service_status=ServiceStatus(show_smart_pause_popup=True if popup else UNSET),
    )


@pytest.mark.parametrize(
    ("hotend_target", "sentence"),
    [
        (0.0, "The hotend is off and the bed stays warm."),
        (215.0, "The hotend stays hot and the bed stays warm."),
    ],
)
def test_a_smart_pause_is_explained_by_what_the_printer_reports(
    home: Home, hotend_target: float, sentence: str
) -> None:
    home.says(paused(popup=True, hotend_target=hotend_target))
    page = home.get().text

    assert '<dialog class="popup" open aria-labelledby="smart-pause">' in page
    assert sentence in page


def test_a_smart_pause_is_resumed_where_every_pause_is(home: Home) -> None:
    home.says(paused(popup=True))
    page = home.get().text

    assert page.count(f'action="{home.path}/resume"') == 1
    assert "/resume" not in page.partition('<dialog class="popup"')[2].partition("</dialog>")[0]


def test_a_pause_whose_caller_asked_for_no_popup_shows_none(home: Home) -> None:
    home.says(paused(popup=False))

    assert "Smart pause" not in home.get().text
