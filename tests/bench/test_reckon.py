"""docs/scale.md says what the reckoning makes of the measurements that are kept."""

import msgspec

from bench.fleet.phases import Death, Run
from bench.fleet.reckon import MEASURED, Load, Prices, _reckoned, costs_of, verdict
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


def test_the_return_of_the_agents_is_judged_and_told_with_its_busiest_second() -> None:
    death = Death(back_s=30.5, dials={0: 120, 1: 4517, 2: 90}, arrivals={})

    told = verdict(msgspec.structs.replace(runs()[0], online=10_000, death=death))

    assert told.startswith(
        "below floor: 10,000 agents back after 30.5 s (floor 30 s, towards 10 s)"
    )
    assert told.endswith("at most 4,517 dials in a second")


def test_agents_that_are_back_in_time_reach_the_floor() -> None:
    death = Death(back_s=30.0, dials={}, arrivals={})

    assert verdict(msgspec.structs.replace(runs()[0], death=death)).startswith("ok: ")
