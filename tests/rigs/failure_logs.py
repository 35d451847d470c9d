"""The output of the rigs' programs during a test, shown when it fails.

A conftest takes part by importing both hooks.
"""

from collections.abc import Generator

import pytest

from tests.rigs.programs import RUNNING

LOG_MARKS = pytest.StashKey[dict[str, tuple[int, int]]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Remember how long each program's log was when this test began."""
    item.stash[LOG_MARKS] = {program.name: program.log_marks() for program in RUNNING}
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure what the programs wrote meanwhile."""
    report = yield
    if report.failed:
        marks = item.stash[LOG_MARKS]
        for program in RUNNING:
            written = program.log_since(marks.get(program.name, (0, 0)))
            if written:
                report.sections.append((f"log of {program.name}", written[-8000:]))
    return report
