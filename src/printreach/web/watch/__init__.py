"""The failure watch of a print, as pages show and change it."""

from litestar import Router

from printreach.web.security import FORM
from printreach.web.watch.pages import DETECTOR_PAGES

WATCH_PAGES = Router("/", route_handlers=[*DETECTOR_PAGES], include_in_schema=False, opt=dict(FORM))
