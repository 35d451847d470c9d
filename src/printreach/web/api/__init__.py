"""APIs for programs. The routers in APIS are served and described."""

from collections.abc import Sequence
from typing import Final

from litestar import Router

from printreach.web.connections.api import APP_CONNECTION_API
from printreach.web.detection.api import DETECTION_API
from printreach.web.prints.event_stream import EVENT_STREAM_API
from printreach.web.webhooks.api import WEBHOOK_API

APIS: Final[Sequence[Router]] = (APP_CONNECTION_API, EVENT_STREAM_API, DETECTION_API, WEBHOOK_API)
