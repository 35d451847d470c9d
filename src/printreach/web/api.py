"""APIs for programs, and their OpenAPI document `GET /openapi.json`, also in docs/openapi.json."""

from collections.abc import Sequence
from typing import Final

import msgspec
from litestar import Litestar, MediaType, Router, route
from litestar.di import Provide
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import License

from printreach import __version__
from printreach.web.connections.api import APP_CONNECTION_API
from printreach.web.detection.api import DETECTION_API
from printreach.web.prints.event_stream import EVENT_STREAM_API
from printreach.web.webhooks.api import WEBHOOK_API

APIS: Final[Sequence[Router]] = (APP_CONNECTION_API, EVENT_STREAM_API, DETECTION_API, WEBHOOK_API)
"""The routers that are served and described."""

_NEVER_ASKED: Final = {
    name: Provide(lambda: None, sync_to_thread=False)
    for name in ("services", "jar", "settings", "session", "signed_in")
}
"""The dependencies that `web.app` provides to every route; a description needs only their names."""


def openapi_document(apis: Sequence[Router]) -> bytes:
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
        ),
        dependencies=_NEVER_ASKED,
        logging_config=None,
    )
    schema = described.openapi_schema.to_schema()
    # The paths of one handler come in an order that changes with each start.
    schema["paths"] = dict(sorted(schema["paths"].items()))
    return msgspec.json.encode(schema)


def document_route(document: bytes) -> HTTPRouteHandler:
    """Serve a finished document."""

    @route(
        "/openapi.json",
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        media_type=MediaType.JSON,
        include_in_schema=False,
        sync_to_thread=False,
    )
    def openapi_json() -> bytes:
        return document

    return openapi_json
