"""The built styles, scripts and drawings: their folder, and the addresses that pages use.

`make install` builds them from the folder web/, and they are part of the wheel. An address carries
a hash of the content, so a browser may cache a file for ever and never shows an old one.
"""

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from litestar import Router
from litestar.datastructures import CacheControlHeader
from litestar.static_files import create_static_files_router

STATIC: Final = Path(__file__).parent / "static"

_AGE_SECONDS: Final = 365 * 24 * 3600
_HASH_DIGITS: Final = 10

_log = logging.getLogger(__name__)


def asset_addresses(folder: Path = STATIC) -> Callable[[str], str]:
    """Return the function with which templates name a built file, such as "app.css".

    Each file is read once. A missing one keeps its plain address: pages work without styles.
    """
    if not (folder / "app.css").is_file():
        _log.warning("the pages have no styles and no scripts: run `make install` to build them")

    @cache
    def asset(name: str) -> str:
        path = folder / name
        if not path.is_file():
            return f"/static/{name}"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:_HASH_DIGITS]
        return f"/static/{name}?v={digest}"

    return asset


def static_files(folder: Path = STATIC) -> Router:
    """Serve the built files."""
    folder.mkdir(exist_ok=True)
    return create_static_files_router(
        path="/static",
        directories=[folder],
        cache_control=CacheControlHeader(public=True, max_age=_AGE_SECONDS, immutable=True),
    )
