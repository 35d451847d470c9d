"""A running OctoPrint for the tests of its adapter."""

from collections.abc import Iterator

import pytest

from tests.printers.octoprint.rig import OctoPrintRig, config_with_camera
from tests.rigs.octoprint import octoprint
from tests.rigs.waiting import free_port


@pytest.fixture(scope="package")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OctoPrintRig]:
    """One for all of them: it takes seconds to start."""
    camera_port = free_port()
    folder = tmp_path_factory.mktemp("octoprint") / "base"
    with octoprint(folder, config_with_camera(camera_port)) as peer:
        yield OctoPrintRig(peer, folder, camera_port)
