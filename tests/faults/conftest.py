"""A service with two printers: one that a test harms, one that must not notice.

Each printer is a process of its own, so that each knows what reached it. They live as long as a
module: a test leaves the victim as it found it, connected.
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
def victim(relay: Service, folder: Path) -> Iterator[Home]:
    """A home whose agent the tests freeze, kill and start again."""
    with a_home(relay, folder, "victim") as home:
        yield home
