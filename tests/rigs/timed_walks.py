"""How long a person's way through the product takes: measured, told after the run, and limited.

The limits are those of people, far above what a busy machine changes.
"""

import time
from collections.abc import Callable
from typing import Final, TypeAlias

import pytest

_PROPERTY: Final = "timed walk"


class Walk:
    """A person's way, timed from when this is made."""

    def __init__(self, name: str, within_s: float, tell: Callable[[str, object], None]) -> None:
        self._name = name
        self._within_s = within_s
        self._tell = tell
        self._begun = time.monotonic()

    def end(self) -> None:
        """The person has arrived. Fails the test where that took longer than the limit."""
        took_s = time.monotonic() - self._begun
        self._tell(_PROPERTY, f"{self._name}: {took_s:.1f} s, at most {self._within_s:.0f} s")
        assert took_s <= self._within_s, f"{self._name} took {took_s:.1f} s"


BeginWalk: TypeAlias = Callable[[str, float], Walk]
"""Takes what the walk is called, and how many seconds it may take."""


@pytest.fixture
def begin_walk(record_property: Callable[[str, object], None]) -> BeginWalk:
    """Begin to time a person's way; it is told after the run."""
    return lambda name, within_s: Walk(name, within_s, record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what each walk took; a conftest takes part by importing this and the fixture."""
    reports = (one for every in terminalreporter.stats.values() for one in every)
    told = sorted(
        str(value)
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == _PROPERTY
    )
    if told:
        terminalreporter.section("timed walks of people")
        for line in told:
            terminalreporter.write_line(line)
