"""Connections to printers: pages, APIs and the permissions of each."""

from litestar import Router

from printreach.web.connections.pages import LIVE_LINK_PAGES, OWN_CONNECTIONS
from printreach.web.security import FORM

CONNECTION_PAGES = Router(
    "/",
    route_handlers=[*OWN_CONNECTIONS, *LIVE_LINK_PAGES],
    include_in_schema=False,
    opt=dict(FORM),
)
