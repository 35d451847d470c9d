"""APIs for programs. The routers in APIS are served and described."""

from collections.abc import Sequence
from typing import Final

from litestar import Router

from printreach.web.api.app_connection import APP_CONNECTION_API
from printreach.web.api.detection import DETECTION_API
from printreach.web.api.event_stream import EVENT_STREAM_API
from printreach.web.api.live_links import LIVE_LINK_API
from printreach.web.api.webhooks import WEBHOOK_API

APIS: Final[Sequence[Router]] = (
    APP_CONNECTION_API,
    EVENT_STREAM_API,
    DETECTION_API,
    LIVE_LINK_API,
    WEBHOOK_API,
)
