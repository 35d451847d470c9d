"""Pages for operators. For everybody else they do not exist."""

from litestar.di import Provide

from printreach.web.operators.accounts import ACCOUNT_PAGES
from printreach.web.operators.context import provide_operator, provide_search
from printreach.web.operators.records import APP_PAGES, PRINTER_PAGES
from printreach.web.operators.service import SERVICE_PAGES
from printreach.web.routing import DeclaredRouter
from printreach.web.security import FORM

OPERATOR_PAGES = DeclaredRouter(
    "/",
    route_handlers=[*(*SERVICE_PAGES, *ACCOUNT_PAGES), *(*APP_PAGES, *PRINTER_PAGES)],
    dependencies={
        "operator": Provide(provide_operator),
        "search": Provide(provide_search, sync_to_thread=False),
    },
    include_in_schema=False,
    opt=dict(FORM),
)
