"""The web role as the tests of its routes see it: no socket, no server."""

from collections.abc import Iterator

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from printreach.web.app import WebSettings, create_app

BASE_URL = "https://printreach.example"


@pytest.fixture
def app() -> Litestar:
    return create_app(WebSettings(base_url=BASE_URL))


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
