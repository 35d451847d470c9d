"""Prints: their history, pictures and events."""

from litestar import Router

from printreach.web.prints.pages import HISTORY_PAGES, SNAPSHOTS
from printreach.web.security import FORM

PRINT_PAGES = Router(
    "/", route_handlers=[*HISTORY_PAGES, *SNAPSHOTS], include_in_schema=False, opt=dict(FORM)
)
