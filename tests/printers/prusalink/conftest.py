"""A running PrusaLink for the tests of its adapter."""

from collections.abc import Iterator

import pytest

from tests.printers.prusalink.rig import PrusaLinkRig
from tests.rigs.prusalink import prusalink


@pytest.fixture(scope="package")
def rig() -> Iterator[PrusaLinkRig]:
    """One for all of them: it takes seconds to start."""
    with prusalink() as peer:
        yield PrusaLinkRig(peer)
