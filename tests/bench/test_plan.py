import pytest

from bench.plan import BadPlan, Plan


def test_what_is_not_given_is_as_usual() -> None:
    assert Plan.read({"BENCH_ROUNDS": "1", "BENCH_SECONDS": ""}) == Plan(rounds=1)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_is_named(text: str) -> None:
    with pytest.raises(BadPlan, match="BENCH_AGENTS"):
        Plan.read({"BENCH_AGENTS": text})
