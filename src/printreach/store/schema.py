"""All tables: importing this module registers each of them."""

from typing import Final

from printreach.store import leases, prints, tables
from printreach.store.accounts import access_tokens, shown_once, waiting_mails
from printreach.store.accounts import tables as account_tables
from printreach.store.connections import live_links
from printreach.store.detection import contexts as detection_contexts
from printreach.store.detection import tables as detection_tables
from printreach.store.notifications import tables as notify_tables
from printreach.store.printers import tables as printer_tables
from printreach.store.prints import snapshots, timelapses
from printreach.store.watch import tables as watch_tables
from printreach.store.webhooks import tables as webhook_tables

MODULES: Final = (
    tables,
    account_tables,
    detection_tables,
    detection_contexts,
    prints,
    snapshots,
    timelapses,
    live_links,
    notify_tables,
    access_tokens,
    webhook_tables,
    watch_tables,
    waiting_mails,
    printer_tables,
    leases,
    shown_once,
)
"""Modules that register their tables when they are imported."""

metadata = tables.metadata
