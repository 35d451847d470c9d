"""A running Moonraker with a Klippy for the tests of its adapter."""

from collections.abc import Iterator

import pytest

from tests.printers.moonraker.rig import CONFIG, EXTRA, MoonrakerRig
from tests.rigs.klippy import klippy
from tests.rigs.moonraker import moonraker
from tests.rigs.waiting import free_port


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoonrakerRig]:
    """One for all of them: it takes seconds to start."""
    camera_port = free_port()
    folder = tmp_path_factory.mktemp("moonraker")
    config = CONFIG.format(camera=f"http://127.0.0.1:{camera_port}")
    with klippy(folder, EXTRA) as printer, moonraker(folder, config) as url:
        yield MoonrakerRig(url, folder, printer, camera_port)
