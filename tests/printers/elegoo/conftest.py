"""A broker for the fake Centauri Carbon 2."""

from collections.abc import Iterator

import pytest

from tests.fakes.elegoo_cc2 import running_broker
from tests.printers.elegoo.cc2_rig import Cc2Rig


@pytest.fixture(scope="package")
def cc2_rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cc2Rig]:
    with running_broker(tmp_path_factory.mktemp("cc2")) as broker:
        yield Cc2Rig(broker)
