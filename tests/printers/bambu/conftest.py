"""A fake Bambu Lab printer for the tests of its adapter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.printers.camera_addresses import CameraHosts
from printreach.printers.setup import PrinterSetup
from tests.fakes.bambu.printer import fake_bambu
from tests.printers.bambu.rig import BambuRig


@pytest.fixture(scope="package")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BambuRig]:
    """One for all of them: its broker takes a moment to start."""
    with fake_bambu(tmp_path_factory.mktemp("bambu"), BambuRig.speed) as fake:
        yield BambuRig(fake)


@pytest.fixture
def a_setup(tmp_path: Path) -> PrinterSetup:
    """Of a printer that nobody will talk to."""
    return PrinterSetup(
        host="192.0.2.1",
        port=8883,
        tls=False,
        data_dir=tmp_path,
        steady_time=lambda: 0.0,
        unix_time=lambda: 0.0,
        uniform=lambda low, _high: low,
        token_bytes=bytes,
        camera_hosts=CameraHosts("192.0.2.1"),
        access_code="12345678",
        serial="01P00A000000001",
    )
