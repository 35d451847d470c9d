"""Pages for operators. For everybody else they do not exist."""

from litestar import Router
from litestar.di import Provide

from printreach.web.accounts.forms import provide_fields
from printreach.web.operator.account_pages import ACCOUNT_PAGES
from printreach.web.operator.app_pages import APP_PAGES
from printreach.web.operator.context import provide_operator
from printreach.web.operator.listing import provide_search
from printreach.web.operator.printer_pages import PRINTER_PAGES
from printreach.web.operator.service_pages import SERVICE_PAGES
from printreach.web.security import FORM

OPERATOR_PAGES = Router(
    "/",
    route_handlers=[
        *(*SERVICE_PAGES, *ACCOUNT_PAGES),
        *(*APP_PAGES, *PRINTER_PAGES),
    ],
    dependencies={
        "fields": Provide(provide_fields),
        "operator": Provide(provide_operator),
        "search": Provide(provide_search, sync_to_thread=False),
    },
    include_in_schema=False,
    opt=dict(FORM),
)
