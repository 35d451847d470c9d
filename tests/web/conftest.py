"""The web role as the tests of its routes see it: no socket, no server, but a real store."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from printreach.store.migrate import migrate
from tests.fakes.clock import FakeClock
from tests.rigs.databases import copy_database
from tests.web.world import BASE_URL, WebWorld, add_operator


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a service that was started for the first time: nobody operates it yet."""
    path = tmp_path_factory.mktemp("empty") / "data" / "database.sqlite3"
    migrate(path)
    return path


@pytest.fixture(scope="session")
def migrated(empty: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a service that is set up: its operator has an account."""
    path = tmp_path_factory.mktemp("migrated") / "data" / "database.sqlite3"
    copy_database(empty, path)
    asyncio.run(add_operator(path))
    return path


@pytest.fixture
def world_settings() -> Mapping[str, str]:
    """What the operator of the test's installation set; a module may say something else."""
    return {}


@pytest.fixture
def world(migrated: Path, tmp_path: Path, world_settings: Mapping[str, str]) -> Iterator[WebWorld]:
    """An installation with nobody in it but its operator, and a clock that stands."""
    path = tmp_path / "data" / "printreach.sqlite3"
    copy_database(migrated, path)
    with closing(WebWorld(path, FakeClock(), **world_settings)) as world:
        yield world


@pytest.fixture
def app(world: WebWorld) -> Litestar:
    return world.app


@pytest.fixture
def browser(app: Litestar) -> Iterator[TestClient[Litestar]]:
    """Asks for pages, as a person's browser does."""
    with TestClient(app, base_url=BASE_URL) as client:
        client.headers["accept"] = "text/html,*/*;q=0.8"
        yield client


@pytest.fixture
def program(app: Litestar) -> Iterator[TestClient[Litestar]]:
    """Asks for anything, as curl and most libraries do."""
    with TestClient(app, base_url=BASE_URL) as client:
        yield client


MakeWorld = Callable[..., AbstractContextManager[tuple[WebWorld, TestClient[Litestar]]]]


@pytest.fixture
def world_with(migrated: Path, tmp_path: Path) -> MakeWorld:
    """An installation with these settings, and a browser before it."""

    @contextmanager
    def make(**settings: str) -> Iterator[tuple[WebWorld, TestClient[Litestar]]]:
        path = tmp_path / "data" / "printreach.sqlite3"
        copy_database(migrated, path)
        with (
            closing(WebWorld(path, FakeClock(), **settings)) as made,
            TestClient(made.app, base_url=BASE_URL) as client,
        ):
            client.headers["accept"] = "text/html"
            yield made, client

    return make
