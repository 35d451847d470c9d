"""The use cases on a real store, with a clock that stands and passwords that cost nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.clock import NOON
from tests.fakes.stripe.server import FakeStripe, fake_stripe
from tests.hub.payments.billing_world import OpenShop
from tests.hub.world import OpenWorld
from tests.rigs.databases import copy_database, migrated

__all__ = ["fake", "migrated", "open_other_world", "open_shop", "open_world"]


@pytest.fixture
def open_world(migrated: Path, tmp_path: Path) -> OpenWorld:
    return _world_at(migrated, tmp_path / "data")


@pytest.fixture
def open_other_world(migrated: Path, tmp_path: Path) -> OpenWorld:
    """For what takes a comparison."""
    return _world_at(migrated, tmp_path / "other-data")


def _world_at(migrated: Path, folder: Path) -> OpenWorld:
    path = folder / "database.sqlite3"
    copy_database(migrated, path)
    return OpenWorld(path)


@pytest.fixture
def fake() -> Iterator[FakeStripe]:
    with fake_stripe(lambda: int(NOON.timestamp())) as running:
        yield running


@pytest.fixture
def open_shop(open_world: OpenWorld, fake: FakeStripe) -> OpenShop:
    return OpenShop(open_world, fake)
