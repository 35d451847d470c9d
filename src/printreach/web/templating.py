"""The template environment, the texts of templates, and the styles, scripts and drawings of pages.

`make install` builds these from the folder web/, and they are part of the wheel. Texts are in the
reader's language: `_("…")`, `ngettext` and `{% trans %}`. A marked text may contain markup, so it
isn't escaped; the values in it are.
"""

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import Router
from litestar.datastructures import CacheControlHeader
from litestar.exceptions import NotFoundException
from litestar.static_files import create_static_files_router
from markupsafe import Markup

from printreach import __version__
from printreach.contract.platforms import PLATFORM_FACTS, facts_of
from printreach.languages import (
    grouped,
    language,
    message,
    script_messages,
    translate,
    translate_counted,
    translate_in_context,
)
from printreach.web.connections.permissions import limits_in_words
from printreach.web.installing import WHEEL_NAME
from printreach.web.problems import AnyRequest
from printreach.web.routing import DeclaredRouter
from printreach.web.wording import FILTERS

STATIC: Final = Path(__file__).parent / "static"
_AGE_SECONDS: Final = 365 * 24 * 3600
_LONGEST_PATH: Final = 1024
_LONGEST_NAME: Final = 255
"""In bytes, as file systems have it."""
_HASH_DIGITS: Final = 10
_TEMPLATES: Final = Path(__file__).parent / "templates"

_log = logging.getLogger(__name__)


def template_environment(
    base_url: str,
    *extra_folders: Path,
    other_sign_in: str | None = None,
    has_mail_server: bool = False,
) -> Environment:
    """Build a strict environment: undefined variables are errors, and everything is escaped.

    extra_folders: searched after the package's own. other_sign_in: the name of the operator's
    OpenID Connect provider, if any. has_mail_server: whether mails reach anybody.
    """
    environment = Environment(
        loader=FileSystemLoader([_TEMPLATES, *extra_folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    speak_the_readers_language(environment)
    environment.filters.update(FILTERS, limits_in_words=limits_in_words)
    environment.globals.update(base_url=base_url, version=__version__, asset=asset_addresses())
    environment.globals.update(is_for_this_machine=is_loopback(base_url))
    environment.globals.update(platforms=PLATFORM_FACTS, facts_of=facts_of, agent_wheel=WHEEL_NAME)
    environment.globals.update(other_sign_in=other_sign_in, has_mail_server=has_mail_server)
    return environment


def is_loopback(base_url: str) -> bool:
    """Return whether an address leads each computer to itself."""
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")


def asset_addresses(folder: Path = STATIC) -> Callable[[str], str]:
    """Return the function by which templates name a built file, such as "app.css".

    The address carries a hash of the content, so a browser may cache the file for ever and never
    shows an old one. Each file is read once. A missing one keeps its plain address: pages work
    without styles.
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


def static_files() -> Router:
    """Serve the built files."""
    STATIC.mkdir(exist_ok=True)
    return create_static_files_router(
        router_class=DeclaredRouter,
        path="/static",
        directories=[STATIC],
        cache_control=CacheControlHeader(public=True, max_age=_AGE_SECONDS, immutable=True),
        before_request=_refuse_no_file_name,
    )


async def _refuse_no_file_name(request: AnyRequest) -> None:
    """Raise NotFoundException for a path that no file can have, before the file system does."""
    path = request.scope["path"]
    is_long = len(path) > _LONGEST_PATH or any(
        len(part.encode(errors="replace")) > _LONGEST_NAME for part in path.split("/")
    )
    if is_long or not path.isprintable():
        raise NotFoundException


def speak_the_readers_language(environment: Environment) -> None:
    """Have the templates of an environment with Jinja's extension i18n use our catalogues."""
    settings: Any = environment  # the extension adds to it what types do not know
    settings.newstyle_gettext = True
    settings.policies["ext.i18n.trimmed"] = True
    environment.globals.update(_=_gettext, gettext=_gettext, ngettext=_ngettext, pgettext=_pgettext)
    environment.globals.update(language=language, script_messages=script_messages)
    environment.filters["translate"] = translate


def _gettext(text: str, /, **values: object) -> Markup:
    return Markup(message(text)) % values  # noqa: S704 - our own texts


def _pgettext(context: str, text: str, /, **values: object) -> Markup:
    return Markup(translate_in_context(context, text)) % values  # noqa: S704 - our own texts


def _ngettext(singular: str, plural: str, count: int, /, **values: object) -> Markup:
    values.setdefault("num", grouped(count))
    return Markup(translate_counted(singular, plural, count)) % values  # noqa: S704 - our own texts
