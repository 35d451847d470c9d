"""All tables: importing this module registers each of them."""

from typing import Final

from printreach.store import (
    access_tokens,
    account_tables,
    detection_contexts,
    detection_tables,
    event_tables,
    live_links,
    notify_tables,
    operator_tables,
    prints,
    snapshots,
    tables,
    waiting_mails,
    watch_tables,
    webhook_tables,
)

MODULES: Final = (
    tables,
    account_tables,
    detection_tables,
    detection_contexts,
    event_tables,
    operator_tables,
    prints,
    snapshots,
    live_links,
    notify_tables,
    access_tokens,
    webhook_tables,
    watch_tables,
    waiting_mails,
)
"""Modules that register their tables when they are imported."""

metadata = tables.metadata
