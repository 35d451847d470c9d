"""The failure-detection API, and the pages of its keys and their usage."""

from litestar import Router

from printreach.web.detection.pages import KEY_PAGES, USAGE_PAGES
from printreach.web.security import FORM

DETECTION_PAGES = Router(
    "/", route_handlers=[*KEY_PAGES, *USAGE_PAGES], include_in_schema=False, opt=dict(FORM)
)
