"""Pages for developers of apps."""

from litestar import Router

from printreach.web.apps.pages import OWN_APPS
from printreach.web.apps.portal_test import show_parameters
from printreach.web.security import FORM

APP_PAGES = Router(
    "/", route_handlers=[*OWN_APPS, show_parameters], include_in_schema=False, opt=dict(FORM)
)
