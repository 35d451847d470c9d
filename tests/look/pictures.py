"""python -m tests.look.pictures FOLDER: take the README's pictures of a running demo."""

import base64
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, Page

from printreach.run.demo import APP_ID, EMAIL, PASSWORD, PRINTERS
from tests.rigs.chromium import chromium_for_many
from tests.rigs.waiting import free_port

WATCHED, FAILING = PRINTERS[0].name, next(one.name for one in PRINTERS if one.is_failing)
PAUSED_WITHIN_MS: Final = 240_000
SCALE: Final = 2
QUALITY: Final = 88
DESKTOP: Final = (1440, 1000)
PHONE: Final = (390, 844)
HERO_CSS: Final = """
* { box-sizing: border-box; margin: 0 } body { width: 1480px; height: 960px; position: relative; }
img { display: block; position: absolute; box-shadow: 0 18px 60px rgb(0 20 30 / .35); }
.desktop { left: 30px; top: 30px; width: 1280px; border-radius: 14px; }
.phone { right: 30px; bottom: 30px; width: 300px; border-radius: 38px;
  border: 9px solid #1d272b; outline: 1px solid #42515a; }
"""


def main(folder: Path) -> None:
    """Write hero-light.webp, hero-dark.webp, failure.webp and portal.webp."""
    folder.mkdir(parents=True, exist_ok=True)
    with _running_demo() as address, chromium_for_many() as browser:
        pages = {scheme: _signed_in(browser, address, scheme) for scheme in ("light", "dark")}
        # What the demo is about: a failure that was caught, beside a print that goes well.
        paused = pages["light"].get_by_text("Paused by failure detection").first
        paused.wait_for(timeout=PAUSED_WITHIN_MS)
        for scheme, page in pages.items():
            page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
            desktop = _shot(page, f"{address}/printers")
            page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
            page.goto(f"{address}/printers")
            phone = _shot(page, _link_of(page, WATCHED))
            _write(folder / f"hero-{scheme}.webp", _hero(browser, desktop, phone))
        page = pages["light"]
        _write(folder / "portal.webp", _shot(page, f"{address}/appportal/v1?appId={APP_ID}"))
        page.set_viewport_size({"width": DESKTOP[0], "height": 1100})
        page.goto(f"{address}/printers")
        page.goto(_link_of(page, FAILING))
        page.get_by_role("button", name="Close").click()
        _write(folder / "failure.webp", page.screenshot())


@contextmanager
def _running_demo() -> Iterator[str]:
    port = free_port()
    address = f"http://localhost:{port}"
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TMPDIR": folder,
            "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
            "PRINTREACH_BASE_URL": address,
            "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        }
        command = [sys.executable, "-m", "printreach.run.demo"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as demo:
            try:
                assert demo.stdout is not None
                if not any(PASSWORD in line for line in demo.stdout):
                    raise SystemExit("The demo did not start.")
                yield address
            finally:
                demo.terminate()
                demo.communicate(timeout=30)


def _signed_in(browser: Browser, address: str, scheme: str) -> Page:
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", device_scale_factor=SCALE
    )
    page = context.new_page()
    page.goto(f"{address}/signin")
    page.fill("[name=email]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/printers*")
    return page


def _link_of(page: Page, name: str) -> str:
    href: str = page.get_by_role("link", name=name).first.evaluate("link => link.href")
    return href


def _shot(page: Page, address: str) -> bytes:
    """Return a picture of a page once its cameras have one, too."""
    page.goto(address)
    page.wait_for_load_state("load")
    time.sleep(2)
    return page.screenshot()


def _hero(browser: Browser, desktop: bytes, phone: bytes) -> bytes:
    """Lay a phone beside a browser's page, on nothing."""
    page = browser.new_context(
        viewport={"width": 1480, "height": 960}, device_scale_factor=SCALE
    ).new_page()
    images = "".join(
        f'<img class="{name}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
        for name, png in (("desktop", desktop), ("phone", phone))
    )
    page.set_content(f"<style>{HERO_CSS}</style>{images}")
    picture = page.screenshot(omit_background=True)
    page.context.close()
    return picture


def _write(path: Path, png: bytes) -> None:
    Image.open(io.BytesIO(png)).save(path, "WEBP", quality=QUALITY, method=6)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
