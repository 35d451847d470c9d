"""What holds for every test: no deadline of its own for generated examples, no silent skip."""

import pytest
from hypothesis import HealthCheck, settings

from tests.requirements_of_tests import REQUIRE_ALL, everything_is_required

# A limit by a clock, for an example or for drawing it, fails on a busy machine, not on wrong
# code; pytest-timeout catches what hangs. The machine that judges a change draws the same examples
# each time, so that it judges the change; everybody else's draw new ones.
settings.register_profile(
    "printreach",
    deadline=None,
    derandomize=everything_is_required(),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("printreach")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "provokes(*codes): gives rise to these error codes; tests/contract/claims.py"
    )


def pytest_report_header() -> str:
    """Say at the top of a run whether a missing program is a skip or a failure."""
    consequence = "fails" if everything_is_required() else "skips"
    return f"a missing program {consequence} the tests that need it ({REQUIRE_ALL})"
