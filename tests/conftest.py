"""What holds for every test: no deadline of its own for generated examples, no silent skip."""

import gc
import logging
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from tests.requirements_of_tests import REQUIRE_ALL, everything_is_required
from tests.rigs.timed_walks import begin_walk, pytest_terminal_summary

__all__ = ["begin_walk", "pytest_terminal_summary"]

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

_IN_MEMORY: Final = Path("/dev/shm")
_FREE_BYTES: Final = 4 * 2**30
"""A whole run takes less than a quarter of it; a container's default is 64 MiB."""

_SECONDS: Final = {"timeout": 10.0, "browser": 2.0, "peer": 2.0, "slow": 1.0}
"""What a test with this mark takes, about; a mark `timeout` allows more than the usual limit."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "provokes(*codes): gives rise to these error codes; tests/contract/claims.py"
    )
    _keep_files_in_memory()
    gc.disable()  # until all is collected: nearly nothing of it is garbage


def _keep_files_in_memory() -> None:
    """Have pytest make its folders where a commit to a database waits for no disk."""
    if _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free >= _FREE_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, lest one worker has such a file left at the end."""
    seconds: defaultdict[Path, float] = defaultdict(float)
    for item in items:
        marked = [_SECONDS[name] for name in _SECONDS if item.get_closest_marker(name)]
        seconds[item.path] += max(marked, default=0.02)
    items.sort(key=lambda item: -seconds[item.path])
    for item in items:
        if item.get_closest_marker("browser"):
            _end_process_at_timeout(item)


def _end_process_at_timeout(item: pytest.Item) -> None:
    """Have a timeout of this test end its process, in which a worker of pytest-xdist follows.

    An exception raised amid playwright's event loop leaves it unable to answer, and what closes the
    browser after the test then waits without a limit.
    """
    marker = item.get_closest_marker("timeout")
    limit = marker.args if marker else ()
    item.add_marker(pytest.mark.timeout(*limit, method="thread"), append=False)


def pytest_collection_finish() -> None:
    """Leave all that collection made out of the garbage collector's searches.

    Each search would look at a million objects that live until the end.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_report_header() -> str:
    """Say at the top of a run whether a missing program is a skip or a failure."""
    consequence = "fails" if everything_is_required() else "skips"
    return f"a missing program {consequence} the tests that need it ({REQUIRE_ALL})"


@pytest.fixture(scope="module", autouse=True)
def logging_is_left_as_found() -> Iterator[None]:
    """Fail the module that changes logging for the tests which its process runs next."""
    before = _logging_state()
    yield
    assert _logging_state() == before, "a test must put back what it changes of logging"


def _logging_state() -> dict[str, object]:
    """What decides whether caplog hears of a record of the product."""
    names = [None, *(name for name in logging.root.manager.loggerDict if _is_ours(name))]
    loggers = {name: logging.getLogger(name) for name in names}
    changed = {
        name or "root": (logger.level, logger.propagate, logger.disabled)
        for name, logger in loggers.items()
        if name is None or logger.level or not logger.propagate or logger.disabled
    }
    return {"disabled below": logging.root.manager.disable, **changed}


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == "printreach"
