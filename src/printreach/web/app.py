"""Composition of the web role: pages, APIs, static files and middleware."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from litestar import Litestar, Response, Router
from litestar.datastructures import State
from litestar.di import Provide
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.template import TemplateConfig

from printreach.hub.leases import AccessEnded
from printreach.limiters.fair_semaphore import TooBusy
from printreach.web.accounts import ACCOUNT_PAGES
from printreach.web.api import APIS, document_route, openapi_document
from printreach.web.apps import APP_PAGES
from printreach.web.connections import CONNECTION_PAGES
from printreach.web.connections.live_pages import live_pages
from printreach.web.cookies import Cookies
from printreach.web.detection import DETECTION_PAGES
from printreach.web.detection.problems import DETECTION_PATH, answer_detection_failure
from printreach.web.flash import FlashMessages
from printreach.web.forms import provide_fields
from printreach.web.front_page import front_page
from printreach.web.notifications import NOTIFICATION_PAGES
from printreach.web.operators import OPERATOR_PAGES
from printreach.web.payments import PAYMENT_PAGES
from printreach.web.portal import PORTAL_PAGES
from printreach.web.printers import OWN_PRINTER, PRINTER_PAGES
from printreach.web.printers.open_pages import OpenPages
from printreach.web.prints import PRINT_PAGES
from printreach.web.problems import (
    AnyRequest,
    PrinterNotFound,
    answer_failure,
    answer_no_such_printer,
    ask_to_come_back,
)
from printreach.web.quick_view import QUICK_VIEW
from printreach.web.requests import LARGEST_BODY, BodyLimiters, BoundedRequest
from printreach.web.safe_methods import BoundedSafeMethods, HeadAsGet, refuse_head_that_uses_up
from printreach.web.security import OriginCheck, hardening
from printreach.web.services import Services
from printreach.web.signed_in import IDENTITY, NotSignedIn, answer_ended_access, ask_to_sign_in
from printreach.web.templating import static_files, template_environment
from printreach.web.uncached import turn_off_parser_caches
from printreach.web.watch import WATCH_PAGES
from printreach.web.webhooks import WEBHOOK_PAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """The installation's settings for the web role.

    base_url: the public address of the service, without a slash at the end. has_mail_server:
    without one, mails are written to the log, and pages say so. requires_https: whether browsers
    are told to use nothing but https with its host.
    """

    base_url: str
    has_mail_server: bool
    requires_https: bool = False


def create_app(settings: WebSettings, services: Services) -> Litestar:
    """Build the web role. Logging is left as the running program has set it up."""
    return build_app(settings, lambda: services, services.other_accounts.name)


def build_app(
    settings: WebSettings, services: Callable[[], Services], other_sign_in: str | None
) -> Litestar:
    """Build it with services that are provided for each request.

    other_sign_in: the name of the operator's OpenID Connect provider, if there is one.
    """
    jar = Cookies(is_https=settings.base_url.startswith("https:"))
    app = Litestar(
        [
            Router("/", route_handlers=[front_page], include_in_schema=False),
            *(*PORTAL_PAGES, *ACCOUNT_PAGES, PRINTER_PAGES, QUICK_VIEW, PRINT_PAGES, WATCH_PAGES),
            *(CONNECTION_PAGES, live_pages(), WEBHOOK_PAGES, APP_PAGES),
            *(DETECTION_PAGES, *NOTIFICATION_PAGES, OPERATOR_PAGES, *PAYMENT_PAGES),
            *APIS,
            document_route(openapi_document(APIS)),
            static_files(),
        ],
        guards=[refuse_head_that_uses_up],
        before_send=[hardening(requires_https=settings.requires_https)],
        middleware=[OriginCheck(settings.base_url), FlashMessages(jar)],
        exception_handlers={
            NotSignedIn: ask_to_sign_in,
            AccessEnded: answer_ended_access,
            TooBusy: ask_to_come_back,
            PrinterNotFound: answer_no_such_printer,
            Exception: _answer_failure,
        },
        dependencies={
            **OWN_PRINTER,
            "fields": Provide(provide_fields),
            "services": Provide(services, sync_to_thread=False),
            "jar": Provide(lambda: jar, sync_to_thread=False),
            "settings": Provide(lambda: settings, sync_to_thread=False),
            **IDENTITY,
        },
        template_config=TemplateConfig(
            engine=JinjaTemplateEngine.from_environment(
                template_environment(
                    settings.base_url,
                    other_sign_in=other_sign_in,
                    has_mail_server=settings.has_mail_server,
                )
            )
        ),
        openapi_config=None,
        request_class=BoundedRequest,
        request_max_body_size=LARGEST_BODY,
        state=State({"body_limiters": BodyLimiters(), "open_pages": OpenPages()}),
        logging_config=None,
        debug=False,
        pdb_on_exception=False,
    )
    turn_off_parser_caches(app)
    app.asgi_handler = BoundedSafeMethods(HeadAsGet(app.asgi_handler), _answer_failure)
    return app


def _answer_failure(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Answer with a page, or in the API's own format at any address below it."""
    if request.url.path.startswith(f"{DETECTION_PATH}/"):
        return answer_detection_failure(request, failure)
    return answer_failure(request, failure)
