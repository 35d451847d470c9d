"""Pages for developers of apps and callers of the failure-detection API."""

from litestar import Router
from litestar.di import Provide

from printreach.web.accounts.forms import provide_fields
from printreach.web.developer.app_pages import APP_PAGES
from printreach.web.developer.delivery_pages import DELIVERY_PAGES
from printreach.web.developer.developer import provide_developers
from printreach.web.developer.key_pages import KEY_PAGES
from printreach.web.developer.portal_test import show_parameters
from printreach.web.developer.usage_pages import USAGE_PAGES
from printreach.web.security import FORM

DEVELOPER_PAGES = Router(
    "/",
    route_handlers=[*APP_PAGES, *KEY_PAGES, *USAGE_PAGES, *DELIVERY_PAGES, show_parameters],
    dependencies={"fields": Provide(provide_fields), "developers": Provide(provide_developers)},
    include_in_schema=False,
    opt=dict(FORM),
)
