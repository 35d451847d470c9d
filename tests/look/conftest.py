"""One browser for the whole folder; each test gets a page of its own."""

from collections.abc import Iterator

import pytest
from litestar.testing import TestClient
from playwright.sync_api import BrowserContext, Page

from tests.look.gallery import answer_in_process, gallery_app
from tests.rigs.chromium import chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    folder = tmp_path_factory.mktemp("profile")
    with chromium(folder) as context, TestClient(gallery_app()) as app:
        answer_in_process(context, app)
        yield context


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    opened = browser.new_page()
    opened.set_viewport_size({"width": 390, "height": 844})
    yield opened
    opened.close()
