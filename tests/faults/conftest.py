"""A service with two printers: one that a test harms, one that must not notice.

Each printer is a process of its own, so that each knows what reached it. All live as long as a
module, for starting them takes longer than most tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.homes import Home, a_home
from tests.rigs.failure_logs import pytest_runtest_makereport, pytest_runtest_protocol
from tests.rigs.service import Service, service_on_localhost

__all__ = ["pytest_runtest_makereport", "pytest_runtest_protocol"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs of one module keep their files and logs."""
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def relay(folder: Path) -> Iterator[Service]:
    """A service of this module's own."""
    with service_on_localhost(folder) as running:
        yield running


@pytest.fixture(scope="module")
def bystander(relay: Service, folder: Path) -> Iterator[Home]:
    """A home that has no part in the fault."""
    with a_home(relay, folder, "bystander") as home:
        yield home


@pytest.fixture(scope="module")
def another_home(relay: Service, folder: Path) -> Iterator[Home]:
    """The victim's."""
    with a_home(relay, folder, "victim") as home:
        yield home


@pytest.fixture
def victim(another_home: Home) -> Iterator[Home]:
    """A home whose agent the test may freeze and kill; the next test finds it connected."""
    yield another_home
    if not another_home.agent.program.is_running:
        another_home.start_agent()
