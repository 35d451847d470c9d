"""Every page about notifications."""

from litestar import Router
from litestar.di import Provide

from printreach.web.accounts.forms import provide_fields
from printreach.web.notifications.choice_pages import CHOICE_PAGES
from printreach.web.notifications.desk import provide_desk
from printreach.web.notifications.place_pages import PLACE_PAGES
from printreach.web.security import FORM

NOTIFICATION_PAGES = Router(
    "/",
    route_handlers=[*CHOICE_PAGES, *PLACE_PAGES],
    dependencies={"fields": Provide(provide_fields), "desk": Provide(provide_desk)},
    include_in_schema=False,
    opt=dict(FORM),
)
