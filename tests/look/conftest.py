"""One browser for the whole folder; each file has a profile of its own, whose tests share a tab.

Installations begin with a copy of a database that was migrated once.
"""

from collections.abc import Iterator

import pytest
from litestar.testing import TestClient
from playwright.sync_api import Browser, BrowserContext, Page

from tests.look.gallery import answer_in_process, gallery_app
from tests.rigs.chromium import chromium_for_many, fresh_profile
from tests.rigs.databases import database, migrated
from tests.rigs.shared_tab import SharedTab

__all__ = ["browser", "database", "migrated", "page", "shared_browser", "tab"]


@pytest.fixture(scope="package")
def shared_browser() -> Iterator[Browser]:
    with chromium_for_many() as running:
        yield running


@pytest.fixture(scope="module")
def browser(shared_browser: Browser) -> Iterator[BrowserContext]:
    with (
        fresh_profile(shared_browser, service_workers=False) as context,
        TestClient(gallery_app()) as app,
    ):
        answer_in_process(context, app)
        yield context


@pytest.fixture(scope="module")
def tab(browser: BrowserContext) -> SharedTab:
    return SharedTab(browser)


@pytest.fixture
def page(tab: SharedTab) -> Iterator[Page]:
    with tab.turn() as opened:
        yield opened
