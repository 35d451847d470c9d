"""A fake Bambu Lab printer for the tests of its adapter."""

from collections.abc import Iterator

import pytest

from tests.fakes.bambu.printer import fake_bambu
from tests.printers.bambu.rig import BambuRig


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BambuRig]:
    """One for all of them: its broker takes a moment to start."""
    with fake_bambu(tmp_path_factory.mktemp("bambu")) as fake:
        yield BambuRig(fake)
