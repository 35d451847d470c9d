"""The use cases on a real store, with a clock that stands and passwords that cost nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.clock import NOON
from tests.fakes.stripe.server import FakeStripe, fake_stripe
from tests.hub.payments.billing_world import OpenShop
from tests.hub.world import OpenWorld
from tests.rigs.databases import (
    NewDatabase,
    migrated,
    migrated_postgresql,
    new_database,
    postgresql,
)

__all__ = [
    "fake",
    "migrated",
    "migrated_postgresql",
    "new_database",
    "open_other_world",
    "open_shop",
    "open_world",
    "postgresql",
]


@pytest.fixture
def open_world(new_database: NewDatabase, tmp_path: Path) -> OpenWorld:
    return OpenWorld(new_database(tmp_path / "data"))


@pytest.fixture
def open_other_world(new_database: NewDatabase, tmp_path: Path) -> OpenWorld:
    """For what takes a comparison."""
    return OpenWorld(new_database(tmp_path / "other-data"))


@pytest.fixture
def fake() -> Iterator[FakeStripe]:
    with fake_stripe(lambda: int(NOON.timestamp())) as running:
        yield running


@pytest.fixture
def open_shop(open_world: OpenWorld, fake: FakeStripe) -> OpenShop:
    return OpenShop(open_world, fake)
