"""Ask for pages of all kinds, and print which caches of the framework keep something of it.

A program of its own: the tests' processes have other applications, whose routers cache.
"""

import gc
import json
import sys
from functools import _lru_cache_wrapper
from pathlib import Path

from litestar.testing import TestClient

from printreach.store.engine import prepare_file
from printreach.store.migrate import migrate
from tests.fakes.clock import FakeClock
from tests.web.world import BASE_URL, WebWorld, sign_in


def filled_caches() -> list[str]:
    """Return the names of the framework's caches that are not empty."""
    return sorted(
        f"{one.__module__}.{one.__qualname__}"
        for one in gc.get_objects()
        if isinstance(one, _lru_cache_wrapper)
        and str(one.__module__).startswith("litestar")
        and one.cache_info().currsize
    )


def main(folder: Path) -> None:
    path = folder / "printreach.sqlite3"
    prepare_file(path)
    migrate(path)
    world = WebWorld(path, FakeClock())
    with TestClient(world.app, base_url=BASE_URL) as browser:
        world.add_account(browser)
        for number in range(5):
            browser.get(f"/signin?next=/{number}", headers={"cookie": f"a={number}"})
            browser.get(f"/live/{number}")
            browser.get(f"/reset/new?token={number}")
            browser.get(f"/printers/{number}/files?path=/{number}")
            sign_in(browser, password=f"wrong {number}")
            browser.post("/api/live/createfromappconnection", json={"AppToken": str(number)})
        sign_in(browser)
        browser.get("/account", headers={"x": "y"})
    print(json.dumps(filled_caches()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
