"""docs/scale.md says what the reckoning makes of the measurements that are kept."""

import msgspec

from bench.fleet.phases import Run
from bench.fleet.reckon import MEASURED, Load, Prices, _reckoned, costs_of
from tests.rigs.peers import ROOT


def runs() -> list[Run]:
    return msgspec.json.decode(MEASURED.read_bytes(), type=list[Run])


def test_the_document_has_the_reckoning_from_the_largest_complete_run() -> None:
    document = (ROOT / "docs" / "scale.md").read_text().splitlines()

    assert [line for line in _reckoned(runs()[-1], Load(), Prices()) if line not in document] == []


def test_ten_times_the_service_costs_ten_times_as_much() -> None:
    rates = Load().rates
    tenth = Load(linked=100_000, online=20_000, printing=2_000, viewers=500).rates

    assert {name: round(rate / tenth[name], 9) for name, rate in rates.items()} == dict.fromkeys(
        rates, 10.0
    )


def test_what_a_phase_costs_is_without_what_happens_anyway() -> None:
    run = runs()[0]
    events = run.phases["events"]

    assert 0 < costs_of(run)["event"].cpu_s["worker"] < events.cpu_s["worker-1"] / events.units
