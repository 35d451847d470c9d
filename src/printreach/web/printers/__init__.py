"""Pages about a person's printers: their state, files, controls and settings."""

from litestar import Router

from printreach.web.printers.files import FILE_PAGES
from printreach.web.printers.linking import LINKING
from printreach.web.printers.list_pages import LIST_PAGES
from printreach.web.printers.orders import ORDERS
from printreach.web.printers.remote_lock import LOCK_PAGES
from printreach.web.printers.settings import SETTINGS_PAGES
from printreach.web.printers.webcams import WEBCAMS
from printreach.web.security import FORM

PRINTER_PAGES = Router(
    "/",
    route_handlers=[
        *(*LINKING, *LIST_PAGES, *LOCK_PAGES, *ORDERS),
        *(*WEBCAMS, *FILE_PAGES, *SETTINGS_PAGES),
    ],
    include_in_schema=False,
    opt=dict(FORM),
)
