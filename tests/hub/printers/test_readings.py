"""What is remembered of printers, weighed by what it takes in memory."""

import tracemalloc
from dataclasses import replace

import msgspec

from printreach.contract.sizes import MAX_STATUS_BYTES
from printreach.contract.status import State
from printreach.hub.printers.live import LiveStatus, read_status
from printreach.hub.printers.readings import NOT_SEEN, Reading, Readings
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from tests.fakes.clock import FakeClock
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer_http import FakePrinterHttp, status_of

LARGEST = Reading(json_bytes=MAX_STATUS_BYTES)


def printer(number: int) -> OwnedPrinter:
    return OwnedPrinter(f"printer-{number}", "ada")


def envelope(**job: object) -> bytes:
    result = {
        "JobStatus": {"State": "idle", **job},
        "ServiceStatus": {},
        "PlatformVersion": "1",
        "Features": 0,
        "ListWebcams": {},
    }
    return msgspec.json.encode({"Status": 200, "Result": result})


def test_the_readings_that_were_renewed_last_stay() -> None:
    readings = Readings(max_bytes=3 * LARGEST.weight)
    for number in (1, 2, 3, 1, 4):
        readings.keep(printer(number), LARGEST)

    kept = [number for number in range(1, 5) if readings.latest(printer(number)) != NOT_SEEN]
    assert kept == [1, 3, 4]


def test_ten_thousand_usual_readings_fit() -> None:
    readings, usual = Readings(), Reading(json_bytes=1100)
    for number in range(10_000):
        readings.keep(printer(number), usual)

    assert len(readings.by_printer) == 10_000


def test_a_printer_that_is_seen_again_and_again_weighs_once() -> None:
    readings = Readings(max_bytes=2 * LARGEST.weight)
    readings.keep(printer(1), LARGEST)
    for _ in range(100):
        readings.keep(printer(2), replace(LARGEST, refusal=PrinterRefusal(601, "away")))

    assert readings.latest(printer(1)) is LARGEST


def test_a_reading_takes_no_more_memory_than_it_weighs() -> None:
    details = {f"{key:x}": [f"{item % 16:x}" * 2 for item in range(64)] for key in range(13)}
    sources = [{"Id": "", "Index": 0, "Name": "", "PlatformDetails": details} for _ in range(60)]
    system = {"Capabilities": {}, "Sources": sources, "Tools": [], "Units": [], "Routes": []}
    said = envelope(MaterialSystem=system)
    assert MAX_STATUS_BYTES * 0.9 < len(said) <= MAX_STATUS_BYTES

    tracemalloc.start()
    status = read_status(said)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert not isinstance(status, PrinterRefusal)
    assert taken < Reading(status=status, json_bytes=len(said)).weight


@on_a_hasty_loop
async def test_a_watched_printers_answer_is_weighed() -> None:
    printers = FakePrinterHttp({printer(1).printer_id: status_of(State.IDLE, "x" * 500)})
    live = LiveStatus(printers, FakeClock())

    assert 500 < (await live.ask_again(printer(1), 1)).json_bytes < 2000
    await live.close()


def test_a_status_that_says_too_much_is_refused_and_the_refusal_names_what() -> None:
    lights = [{"Name": "a", "On": True}] * 600_000
    refusal = read_status(envelope(Lights=lights))

    assert isinstance(refusal, PrinterRefusal)
    assert refusal.code == 750
    assert refusal.sentence.endswith(
        " Result.JobStatus.Lights: expected a list of at most 64 entries."
    )


def test_a_status_that_is_nested_without_end_is_refused() -> None:
    assert isinstance(read_status(b'{"Result":{"x":' + b"[" * 100_000), PrinterRefusal)
