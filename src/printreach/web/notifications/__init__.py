"""Pages about notifications and their destinations."""

from litestar import Router
from litestar.di import Provide

from printreach.web.notifications.choice_pages import CHOICE_PAGES
from printreach.web.notifications.destination_pages import DESTINATION_PAGES
from printreach.web.notifications.pages import provide_pages
from printreach.web.notifications.unsubscribe import STOP_PAGES
from printreach.web.security import FORM

NOTIFICATION_PAGES = [
    STOP_PAGES,
    Router(
        "/",
        route_handlers=[*CHOICE_PAGES, *DESTINATION_PAGES],
        dependencies={"pages": Provide(provide_pages)},
        include_in_schema=False,
        opt=dict(FORM),
    ),
]
