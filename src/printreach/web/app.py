"""Put the web role together: pages, APIs, static files, and what guards them all."""

from dataclasses import dataclass

from litestar import Litestar
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.template import TemplateConfig

from printreach.web.api import APIS
from printreach.web.api.document import document_route, openapi_document
from printreach.web.assets import static_files
from printreach.web.pages import PAGES
from printreach.web.problems import answer_failure
from printreach.web.security import OriginCheck, harden
from printreach.web.templating import template_environment


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """What the web role has to know of the installation.

    base_url: the public address of the service, without a slash at the end.
    """

    base_url: str


def create_app(settings: WebSettings) -> Litestar:
    """Build the web role. Logging is left as the program that runs it has set it up."""
    return Litestar(
        [PAGES, *APIS, document_route(openapi_document(APIS)), static_files()],
        before_send=[harden],
        middleware=[OriginCheck(settings.base_url)],
        exception_handlers={Exception: answer_failure},
        template_config=TemplateConfig(
            engine=JinjaTemplateEngine.from_environment(template_environment(settings.base_url))
        ),
        openapi_config=None,
        logging_config=None,
        debug=False,
        pdb_on_exception=False,
    )
