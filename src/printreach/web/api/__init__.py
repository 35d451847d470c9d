"""APIs for programs. What stands in APIS is served and described."""

from collections.abc import Sequence
from typing import Final

from litestar import Router

from printreach.web.api.app_connection import APP_CONNECTION_API
from printreach.web.api.body_room import BodyRoom
from printreach.web.api.detection import detection_api
from printreach.web.api.event_stream import EVENT_STREAM_API
from printreach.web.api.live_links import LIVE_LINK_API
from printreach.web.api.webhooks import WEBHOOK_API

APIS: Final[Sequence[Router]] = (
    APP_CONNECTION_API,
    EVENT_STREAM_API,
    detection_api(BodyRoom()),
    LIVE_LINK_API,
    WEBHOOK_API,
)
