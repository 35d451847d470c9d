"""Pages about a person's printers: their state, files, controls and settings."""

from typing import Final

from printreach.web.printers.files import FILE_PAGES
from printreach.web.printers.list_pages import LIST_PAGES
from printreach.web.printers.machine_orders import MACHINE_ORDERS
from printreach.web.printers.members import MEMBER_PAGES
from printreach.web.printers.orders import ORDERS
from printreach.web.printers.preset_pages import PRESET_PAGES
from printreach.web.printers.remote_lock import LOCK_PAGES
from printreach.web.printers.settings import SETTINGS_PAGES
from printreach.web.printers.webcams import WEBCAMS

PRINTER_PAGES: Final = [
    *(*LIST_PAGES, *LOCK_PAGES, *ORDERS, *MACHINE_ORDERS),
    *(*WEBCAMS, *FILE_PAGES, *SETTINGS_PAGES, *MEMBER_PAGES, *PRESET_PAGES),
]
