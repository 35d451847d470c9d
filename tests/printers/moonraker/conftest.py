"""A running Moonraker with a Klippy for the tests of its adapter."""

from collections.abc import Iterator

import pytest

from tests.printers.moonraker.rig import MoonrakerRig, running_rig


@pytest.fixture(scope="package")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoonrakerRig]:
    """One for all of them: it takes seconds to start."""
    folder = tmp_path_factory.mktemp("moonraker")
    with running_rig(folder) as running:
        yield running
