"""Composition of the web role: pages, APIs with their document, static files and middleware."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import msgspec
from litestar import Litestar, MediaType, Response, route
from litestar.datastructures import State
from litestar.di import Provide
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, License, SecurityScheme
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.template import TemplateConfig

from printreach import __version__
from printreach.contract.errors import FAILURES
from printreach.hub.leases import AccessEnded
from printreach.limiters.fair_semaphore import TooBusy
from printreach.ports import Unavailable
from printreach.rules.accounts.access_tokens import Scope
from printreach.web.accounts import ACCOUNT_PAGES
from printreach.web.apps import OWN_APPS, show_parameters
from printreach.web.connections import CONNECTION_PAGES
from printreach.web.connections.api import APP_CONNECTION_API, CALLERS_SCHEME
from printreach.web.connections.live_pages import LIVE_PAGES
from printreach.web.cookies import Cookies
from printreach.web.detection import DETECTION_PAGES
from printreach.web.detection.api import API_KEY, DETECTION_API
from printreach.web.detection.problems import DETECTION_PATH, answer_detection_failure
from printreach.web.flash import FlashMessages, RefusalsInPlace
from printreach.web.forms import provide_fields
from printreach.web.framework import WebApp, answer_options, turn_off_parser_caches
from printreach.web.front_page import front_page
from printreach.web.installable import INSTALLABLE
from printreach.web.installing import downloads_route
from printreach.web.languages import InTheReadersLanguage
from printreach.web.notifications import NOTIFICATION_PAGES
from printreach.web.operators import OPERATOR_PAGES
from printreach.web.payments import PAYMENT_CALLS, SUPPORTING
from printreach.web.portal import PORTAL_PAGES
from printreach.web.printers import PRINTER_PAGES
from printreach.web.printers.access import PRINTER_IN_PATH
from printreach.web.printers.open_pages import OpenPages
from printreach.web.prints import PRINT_PAGES
from printreach.web.prints.event_stream import EVENT_STREAM_API, READERS_SCHEME
from printreach.web.prints.timelapses import timelapse_pages
from printreach.web.problems import (
    AnyRequest,
    NotAllowed,
    PrinterNotFound,
    answer_failure,
    answer_no_such_printer,
    answer_not_allowed,
    ask_to_come_back,
)
from printreach.web.quick_view import QUICK_VIEW
from printreach.web.requests import LARGEST_BODY, BodyLimiters, BoundedRequest, UnansweredRequests
from printreach.web.routing import DeclaredRouter
from printreach.web.safe_methods import BoundedSafeMethods, HeadAsGet, refuse_head_that_uses_up
from printreach.web.security import FORM, OriginCheck, hardening
from printreach.web.services import Services
from printreach.web.signed_in import IDENTITY, NotSignedIn, answer_ended_access, ask_to_sign_in
from printreach.web.templating import static_files, template_environment
from printreach.web.watch import DETECTOR_PAGES
from printreach.web.webhooks import DELIVERY_PAGES, WEBHOOK_API

APIS: Final[Sequence[DeclaredRouter]] = (
    APP_CONNECTION_API,
    EVENT_STREAM_API,
    DETECTION_API,
    WEBHOOK_API,
)
"""The routers that are served and described."""

_NEVER_ASKED: Final = {
    name: Provide(lambda: None, sync_to_thread=False)
    for name in ("services", "jar", "settings", "session", "signed_in")
}
"""The dependencies that `web.app` provides to every route; a description needs only their names."""


def openapi_document(apis: Sequence[DeclaredRouter]) -> bytes:
    """Describe APIs as OpenAPI 3.1, in JSON.

    The framework would serve the description in a folder with pages of its own. So an application
    that is never served generates it, and we serve it at the one path that we promise.
    """
    described = Litestar(
        list(apis),
        openapi_config=OpenAPIConfig(
            title="Printreach",
            version=__version__,
            summary="Safe remote access to 3D printers, for apps and for people.",
            license=License(name="Apache-2.0", identifier="Apache-2.0"),
            use_handler_docstrings=True,
            components=Components(
                security_schemes={
                    CALLERS_SCHEME: SecurityScheme(
                        type="apiKey",
                        name="AppToken",
                        security_scheme_in="header",
                        description="`appApiToken` of the portal. POST also takes it in the body,"
                        " as `AppToken`.",
                    ),
                    API_KEY: SecurityScheme(
                        type="apiKey",
                        name=API_KEY,
                        security_scheme_in="header",
                        description="A key from the developer page.",
                    ),
                    READERS_SCHEME: SecurityScheme(
                        type="http",
                        scheme="bearer",
                        description=f"A token with the scope `{Scope.READ_EVENTS.value}`.",
                    ),
                }
            ),
        ),
        dependencies=_NEVER_ASKED,
        logging_config=None,
    )
    schema = described.openapi_schema.to_schema()
    # The paths of one handler come in an order that changes with each start.
    schema["paths"] = dict(sorted(schema["paths"].items()))
    for operations in schema["paths"].values():
        for operation in operations.values():
            operation["responses"] = _with_default(operation["responses"])
    return msgspec.json.encode(schema)


def _with_default(responses: Mapping[str, Any]) -> Mapping[str, Any]:
    """Describe the service's own codes as the default answer: OpenAPI has no keys for them."""
    own = {code: one for code, one in responses.items() if int(code) in FAILURES}
    if not own:
        return responses
    meanings = " ".join(f"{code}: {one['description']}" for code, one in sorted(own.items()))
    default = {
        **next(iter(own.values())),
        "description": f"A failure of the service; its code is the HTTP status. {meanings}",
    }
    known = {code: one for code, one in responses.items() if code not in own}
    return {**known, "default": default}


def document_route(path: str, describe: Callable[[], bytes]) -> HTTPRouteHandler:
    """Serve a document that is made by the first request for it.

    describe: runs on a thread, since it takes a third of a second.
    """
    document, making = b"", asyncio.Lock()

    @route(
        path,
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        media_type=MediaType.JSON,
        include_in_schema=False,
    )
    async def document_json() -> bytes:
        nonlocal document
        async with making:
            document = document or await asyncio.to_thread(describe)
        return document

    return document_json


Documents = Mapping[str, Callable[[], bytes]]
_NO_DOCUMENTS: Final[Documents] = MappingProxyType({})

PAGES: Final = DeclaredRouter(
    "/",
    route_handlers=[
        *(front_page, *PRINTER_PAGES, *QUICK_VIEW, *PRINT_PAGES, *DETECTOR_PAGES),
        *(*CONNECTION_PAGES, *DELIVERY_PAGES, *OWN_APPS, show_parameters),
        *(*DETECTION_PAGES, *SUPPORTING),
    ],
    include_in_schema=False,
    opt=dict(FORM),
)
"""The pages that need nothing of their own."""


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


def create_app(
    settings: WebSettings, services: Services, documents: Documents = _NO_DOCUMENTS
) -> Litestar:
    """Build the web role. Logging is left as the running program has set it up."""
    return build_app(settings, lambda: services, services.other_accounts.name, documents)


def build_app(
    settings: WebSettings,
    services: Callable[[], Services],
    other_sign_in: str | None,
    documents: Documents = _NO_DOCUMENTS,
) -> Litestar:
    """Build it with services that are provided for each request.

    documents: further ones in JSON, by their paths; document_route() says how they are made.
    other_sign_in: the name of the operator's OpenID Connect provider, if there is one.
    """
    jar = Cookies(is_https=settings.base_url.startswith("https:"))
    app = WebApp(
        [
            PAGES,
            *(*PORTAL_PAGES, *ACCOUNT_PAGES, *NOTIFICATION_PAGES, OPERATOR_PAGES),
            *(LIVE_PAGES, timelapse_pages(), PAYMENT_CALLS),
            *APIS,
            document_route("/openapi.json", partial(openapi_document, APIS)),
            *(document_route(path, describe) for path, describe in documents.items()),
            downloads_route(settings.base_url),
            *(INSTALLABLE, static_files()),
        ],
        guards=[refuse_head_that_uses_up],
        before_send=[hardening(requires_https=settings.requires_https)],
        middleware=[OriginCheck(settings.base_url), RefusalsInPlace(), FlashMessages(jar)],
        exception_handlers={
            NotSignedIn: ask_to_sign_in,
            AccessEnded: answer_ended_access,
            TooBusy: ask_to_come_back,
            Unavailable: ask_to_come_back,
            PrinterNotFound: answer_no_such_printer,
            NotAllowed: answer_not_allowed,
            Exception: _answer_failure,
        },
        dependencies={
            **PRINTER_IN_PATH,
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
    counted = UnansweredRequests(HeadAsGet(app.asgi_handler))
    bounded = BoundedSafeMethods(counted, _answer_failure)
    app.asgi_handler = InTheReadersLanguage(bounded)
    return app


def _answer_failure(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Answer with a page, or in the API's own format at any address below it."""
    answer = answer_options(request, failure)
    if answer is not None:
        return answer
    if request.url.path.startswith(f"{DETECTION_PATH}/"):
        return answer_detection_failure(request, failure)
    return answer_failure(request, failure)
