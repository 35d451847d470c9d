"""One OctoPrint with the plugin, one service, for all tests of a worker; each begins unlinked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.failure_logs import pytest_runtest_makereport, pytest_runtest_protocol
from tests.rigs.octoprint_plugin import PluginRig, install_plugin, octoprint_with_plugin
from tests.rigs.service import Service, service_on_localhost

__all__ = ["pytest_runtest_makereport", "pytest_runtest_protocol"]


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that has the plugin installed in it."""
    return install_plugin(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="package")
def running(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PluginRig]:
    """OctoPrint, whatever earlier tests did to its plugin."""
    folder = tmp_path_factory.mktemp("plugged") / "octoprint"
    with octoprint_with_plugin(folder, site) as rig:
        yield rig


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with one account."""
    with service_on_localhost(tmp_path_factory.mktemp("service")) as started:
        yield started


@pytest.fixture
def plugin(running: PluginRig) -> Iterator[PluginRig]:
    """OctoPrint with a plugin that was told no address and is linked with nobody.

    Whatever a test does, the plugin raises nothing: OctoPrint would log it with its traceback.
    """
    before = len(running.log())
    yield running
    assert "Traceback" not in running.log()[before:]
    if running.state()["SavedAddress"]:
        running.order("unlink")
        running.connect("")
    running.wait_for("no agent", Running=False)
