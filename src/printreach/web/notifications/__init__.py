"""Pages about notifications and their destinations."""

from litestar import Router
from litestar.di import Provide

from printreach.web.accounts.forms import provide_fields
from printreach.web.notifications.choice_pages import CHOICE_PAGES
from printreach.web.notifications.destination_pages import DESTINATION_PAGES
from printreach.web.notifications.pages import provide_pages
from printreach.web.security import FORM

NOTIFICATION_PAGES = Router(
    "/",
    route_handlers=[*CHOICE_PAGES, *DESTINATION_PAGES],
    dependencies={"fields": Provide(provide_fields), "pages": Provide(provide_pages)},
    include_in_schema=False,
    opt=dict(FORM),
)
