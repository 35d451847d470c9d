"""Pages about notifications and their destinations."""

from litestar import Router
from litestar.di import Provide

from printreach.web.notifications.devices import ACTS, DEVICE_ROUTES
from printreach.web.notifications.pages import NOTIFICATION_ROUTES, STOP_PAGES, provide_pages
from printreach.web.security import FORM

NOTIFICATION_PAGES = [
    *(STOP_PAGES, ACTS),
    Router(
        "/",
        route_handlers=[*NOTIFICATION_ROUTES, *DEVICE_ROUTES],
        dependencies={"pages": Provide(provide_pages)},
        include_in_schema=False,
        opt=dict(FORM),
    ),
]
