"""The dashboard as an app on a phone or computer: manifest, service worker, and the offline page.

They are served by the web role alone, thus never on a printer's host, and are the same for anybody:
nothing that is kept on a device belongs to an account.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from litestar import MediaType, Response, route
from litestar.exceptions import NotFoundException
from litestar.response import Template

from printreach.languages import N_, _, language
from printreach.web.routing import DeclaredRouter
from printreach.web.safe_methods import READ
from printreach.web.templating import STATIC, asset_addresses
from printreach.web.wording import typeset

MANIFEST_PATH: Final = "/manifest.webmanifest"
WORKER_PATH: Final = "/service-worker.js"
OFFLINE_PATH: Final = "/offline"

_WORKER_FILE: Final = "service-worker.js"
_KEPT_ASSETS: Final = ("app.css", "pages.css", "app.js", "icon.svg")
"""What the offline page loads."""
_THEME: Final = "#ffffff"
_GROUND: Final = "#f2f5f5"
"""Of the light colours: a manifest has one of each, and each page says its own for dark."""
_ICONS: Final = (
    ("icon-192.png", 192, "any"),
    ("icon-512.png", 512, "any"),
    ("icon-maskable-512.png", 512, "maskable"),
)
_REVALIDATED: Final = {"Cache-Control": "no-cache"}


def manifest(asset: Callable[[str], str]) -> dict[str, Any]:
    """Return the web app manifest. asset: the address of a built file."""
    return {
        "id": "/",
        "name": "Printreach",
        "short_name": "Printreach",
        "lang": language(),
        "description": _("Your 3D printers, from anywhere."),
        "start_url": "/printers",
        "scope": "/",
        "display": "standalone",
        "theme_color": _THEME,
        "background_color": _GROUND,
        "icons": [
            {
                "src": asset(name),
                "sizes": f"{size}x{size}",
                "type": "image/png",
                "purpose": purpose,
            }
            for name, size, purpose in _ICONS
        ],
    }


def service_worker(folder: Path = STATIC) -> bytes:
    """Return the service worker in the reader's language, with the list of what it keeps before it.

    It differs whenever anything that it keeps has changed, so browsers replace it then.
    """
    words = {
        "happened": _("Something happened at a printer."),
        "nothing_done": _("Nothing was done"),
        "not_reached": typeset(
            N_("Printreach can't be reached from here. Tap to open the printer's page.")
        ),
    }
    asset = asset_addresses(folder)
    assets = [asset(name) for name in _KEPT_ASSETS]
    code = (folder / _WORKER_FILE).read_bytes()
    offline = (Path(__file__).parent / "templates" / "offline.html").read_bytes()
    base = (Path(__file__).parent / "templates" / "base.html").read_bytes()
    parts = [code, offline, base, *(one.encode() for one in (*assets, language()))]
    version = hashlib.sha256(b"\0".join(parts))
    kept = {
        "version": version.hexdigest()[:16],
        "page": OFFLINE_PATH,
        "assets": assets,
        "icon": asset("icon-192.png"),
        "badge": asset("badge-96.png"),
        "words": words,
    }
    return b"self.KEPT = " + msgspec.json.encode(kept) + b";\n" + code


@cache
def _served_worker(_language: str) -> bytes:
    return service_worker()


_asset = cache(asset_addresses)


@route(MANIFEST_PATH, http_method=READ, sync_to_thread=False)
def web_app_manifest() -> Response[bytes]:
    """Say how the dashboard is installed."""
    return Response(
        msgspec.json.encode(manifest(_asset())),
        media_type="application/manifest+json",
        headers=_REVALIDATED,
    )


@route(WORKER_PATH, http_method=READ, sync_to_thread=False)
def worker_script() -> Response[bytes]:
    """Return the service worker; its scope is the whole host, since it lies at the root.

    Raises NotFoundException where the pages' scripts were not built.
    """
    if not (STATIC / _WORKER_FILE).is_file():
        raise NotFoundException("The scripts of the pages are not built")
    return Response(_served_worker(language()), media_type="text/javascript", headers=_REVALIDATED)


@route(OFFLINE_PATH, http_method=READ, media_type=MediaType.HTML, sync_to_thread=False)
def offline_page() -> Template:
    """Return the page that the service worker shows while there is no network."""
    return Template("offline.html")


INSTALLABLE: Final = DeclaredRouter(
    "/",
    route_handlers=[web_app_manifest, worker_script, offline_page],
    include_in_schema=False,
)
