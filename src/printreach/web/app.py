"""Put the web role together: pages, APIs, static files, and what guards them all."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import Litestar, Router
from litestar.datastructures import CacheControlHeader
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.static_files import create_static_files_router
from litestar.template import TemplateConfig

from printreach import __version__
from printreach.web.api import APIS
from printreach.web.api.document import document_route, openapi_document
from printreach.web.pages import PAGES
from printreach.web.problems import answer_failure
from printreach.web.security import OriginCheck, harden

_HERE: Final = Path(__file__).parent
_STATIC_AGE_SECONDS: Final = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """What the web role has to know of the installation.

    base_url: the public address of the service, without a slash at the end.
    """

    base_url: str


def create_app(settings: WebSettings) -> Litestar:
    """Build the web role. Logging is left as the program that runs it has set it up."""
    return Litestar(
        [PAGES, *APIS, document_route(openapi_document(APIS)), _static_files()],
        before_send=[harden],
        middleware=[OriginCheck(settings.base_url)],
        exception_handlers={Exception: answer_failure},
        template_config=TemplateConfig(
            engine=JinjaTemplateEngine.from_environment(_templates(settings))
        ),
        openapi_config=None,
        logging_config=None,
        debug=False,
        pdb_on_exception=False,
    )


def _static_files() -> Router:
    return create_static_files_router(
        path="/static",
        directories=[_HERE / "static"],
        # The pages ask for each file by version, so an old copy is never taken for a new one.
        cache_control=CacheControlHeader(public=True, max_age=_STATIC_AGE_SECONDS),
    )


def _templates(settings: WebSettings) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = _typeset
    environment.globals.update(base_url=settings.base_url, version=__version__)
    return environment


def _typeset(text: str) -> str:
    """Curl the apostrophes of a sentence that also goes into logs and JSON."""
    return text.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
