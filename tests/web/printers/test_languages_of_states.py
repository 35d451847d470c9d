"""What agents say, and what the store kept, can be translated on the pages that show it."""

import msgspec
import pytest

from printreach.contract.errors import ErrorCode
from printreach.contract.events import EventType
from printreach.contract.status import DetectorStatus, State, StatusResult
from printreach.ports.notifications import NotSent, SendFailure
from printreach.ports.printer_http import PrinterRefusal
from printreach.printers.bambu.states import error_of, sub_state_of
from printreach.rules.webhooks import Outcome
from printreach.web.prints.rows import print_path
from tests.hub.webhooks.world import event
from tests.languages.conftest import known_brackets
from tests.web.connections.test_connections import connect_app
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_languages import NAMES
from tests.web.prints.test_history import hear
from tests.web.test_languages import GERMAN, text_outside_brackets
from tests.web.test_notifications import add_ntfy
from tests.web.webhooks.webhook_days import URL, happens, set_webhook
from tests.web.world import run, send

__all__ = ["known_brackets"]

DATA = (*NAMES, "Demo <b>", "part", "hook.example")
UNREACHED = "OctoPrint at 10.0.0.7 can't be reached: Connection refused."


def doing(state: State, *, sub_state: str | None = None, error: str | None = None) -> StatusResult:
    status = printing(state=state)
    job = msgspec.structs.replace(status.job_status, sub_state=sub_state, error=error)
    return msgspec.structs.replace(status, job_status=job)


def stage(number: int, state: State) -> StatusResult:
    return doing(state, sub_state=sub_state_of({"stg_cur": number}, state))


STATES = {
    "warming up": stage(2, State.WARMING_UP),
    "printing": stage(14, State.PRINTING),
    "paused": stage(6, State.PAUSED),
    "paused without a word": doing(State.PAUSED),
    "resuming": doing(State.RESUMING, sub_state="Heating up again"),
    "complete": doing(State.COMPLETE),
    "cancelled": doing(State.CANCELLED),
    "idle": doing(State.IDLE),
    "in error": doing(State.ERROR, error=error_of({"print_error": 0x05004004})),
    "warned": printing(
        detector=DetectorStatus(
            last_score=0.7, score_history=[0.7], interval_sec=20, time_since_last_warn_sec=200
        )
    ),
    "paused by the detector": printing(
        state=State.PAUSED,
        detector=DetectorStatus(
            last_score=0.9, score_history=[0.9], interval_sec=20, time_since_last_pause_sec=200
        ),
    ),
}
REFUSALS = {
    "not reached": PrinterRefusal(785, UNREACHED),
    "no answer": PrinterRefusal(785, "The printer gave no answer in 20 s."),
    "key refused": PrinterRefusal(789, "Moonraker at 10.0.0.7 refuses the agent's API key."),
    "Klipper down": PrinterRefusal(785, "Klipper at 10.0.0.7 has shut down: 7."),
    "agent away": PrinterRefusal(
        int(ErrorCode.PRINTER_NOT_CONNECTED), "The agent is not connected."
    ),
}
WEBHOOK_FAILURES = (
    "The receiver can't be reached: Connection refused.",
    "The receiver gave no answer within 10 seconds.",
    "WebhookUrl can't be called: its name leads to an address that isn't public.",
)
WHERE = ("/printers", "", "/control", "/files", "/settings", "/detector")


def left_in_english(home: Home, page: str) -> list[str]:
    path = page if page == "/printers" else f"{home.path}{page}"
    answer = home.browser.get(path, headers=GERMAN)
    assert answer.status_code == 200
    return text_outside_brackets(answer.text, DATA)


@pytest.mark.parametrize("page", WHERE)
@pytest.mark.parametrize("state", STATES)
def test_every_state_can_be_translated(
    state: str, page: str, home: Home, known_brackets: str
) -> None:
    home.says(STATES[state])

    assert left_in_english(home, page) == []


@pytest.mark.parametrize("page", WHERE)
@pytest.mark.parametrize("refusal", REFUSALS)
def test_every_reason_why_a_printer_is_not_reached_can_be_translated(
    refusal: str, page: str, home: Home, known_brackets: str
) -> None:
    home.world.printers.statuses[home.printer_id] = REFUSALS[refusal]

    assert left_in_english(home, page) == []
    assert left_in_english(home, "/printers") == []


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("/pause", "Only a running print can be paused; the printer is idle."),
        ("/resume", "Only a paused print can be resumed; the printer is printing."),
        ("/cancel", UNREACHED),
    ],
)
def test_a_refused_order_can_be_translated(
    order: str, sentence: str, home: Home, known_brackets: str
) -> None:
    home.browser.headers.update(GERMAN)
    home.world.printers.answers[order] = PrinterRefusal(786, sentence)

    answer = home.send({"/cancel": "/stop"}.get(order, order))

    assert text_outside_brackets(answer.text, DATA) == []


def test_what_became_of_calls_of_webhooks_can_be_translated(
    home: Home, known_brackets: str
) -> None:
    connection_id = connect_app(home)

    async def fail() -> None:
        await set_webhook(home.world, connection_id)
        for number, sentence in enumerate(WEBHOOK_FAILURES, start=1):
            failure = Outcome(http_status=None, duration_ms=9, error=sentence)
            home.world.sender.always(URL, failure)
            await happens(home.world, home.printer_id, [number])

    run(home.browser, fail)
    page = home.browser.get(f"/connections/{connection_id}", headers=GERMAN)

    assert page.text.count("⟦The receiver") + page.text.count("⟦WebhookUrl can") >= 3
    assert text_outside_brackets(page.text, DATA) == []


def test_the_history_of_a_print_that_was_lost_can_be_translated(
    home: Home, known_brackets: str
) -> None:
    failed = msgspec.structs.replace(
        event(1, int(EventType.FAILED), "print-1"), error=f"The print was lost. {UNREACHED}"
    )
    hear(home, event(2, int(EventType.STARTED), "print-1"), failed)

    for page in (f"{home.path}/history", print_path(home.printer_id, "print-1"), "/activity"):
        answer = home.browser.get(page, headers=GERMAN)
        assert answer.status_code == 200
        assert text_outside_brackets(answer.text, DATA) == []


def test_what_people_ordered_can_be_translated(home: Home, known_brackets: str) -> None:
    home.send("/pause")
    home.world.printers.statuses[home.printer_id] = printing(state=State.PAUSED)
    home.send("/resume")

    page = home.browser.get(f"{home.path}/history", headers=GERMAN)

    assert "⟦by you, " in page.text
    assert text_outside_brackets(page.text, DATA) == []


def test_why_a_channel_takes_no_message_can_be_translated(home: Home, known_brackets: str) -> None:
    destination = add_ntfy(home.browser)
    home.world.messenger.answer = NotSent(SendFailure.REFUSED, 418)
    home.browser.headers.update(GERMAN)

    pages = [
        send(home.browser, f"/notifications/{destination}/test"),
        home.browser.get("/notifications"),
        *[send(home.browser, f"/notifications/{destination}/test") for _ in range(5)][-1:],
    ]

    assert "⟦The service answered with status 418.⟧" in pages[1].text
    assert "⟦Too many tests. Wait ⟦" in pages[2].text
    for page in pages:
        assert text_outside_brackets(page.text, ("my-printers", *DATA)) == []
