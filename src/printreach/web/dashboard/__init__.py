"""The dashboard: a person's printers, their files and controls, and the connections to them."""

from litestar import Router
from litestar.di import Provide

from printreach.web.dashboard.connection_pages import CONNECTION_PAGES
from printreach.web.dashboard.dashboard import provide_dashboard
from printreach.web.dashboard.file_pages import FILE_PAGES
from printreach.web.dashboard.list_pages import LIST_PAGES
from printreach.web.dashboard.live_pages import LIVE_LINK_PAGES
from printreach.web.dashboard.lock_pages import LOCK_PAGES
from printreach.web.dashboard.orders import ORDERS
from printreach.web.dashboard.printer_pages import PRINTER_PAGES
from printreach.web.dashboard.settings_pages import SETTINGS_PAGES
from printreach.web.dashboard.watch_pages import WATCH_PAGES
from printreach.web.dashboard.webcams import WEBCAMS
from printreach.web.dashboard.webhook_pages import WEBHOOK_PAGES

DASHBOARD_PAGES = Router(
    "/",
    route_handlers=[
        LIST_PAGES,
        LOCK_PAGES,
        PRINTER_PAGES,
        ORDERS,
        WEBCAMS,
        FILE_PAGES,
        SETTINGS_PAGES,
        WATCH_PAGES,
        CONNECTION_PAGES,
        WEBHOOK_PAGES,
        LIVE_LINK_PAGES,
    ],
    dependencies={"dashboard": Provide(provide_dashboard)},
    include_in_schema=False,
)
