"""Every table there is: whoever imports this has them all in one place."""

from typing import Final

from printreach.backends.sql import account_tables, event_tables, tables

MODULES: Final = (tables, account_tables, event_tables)
"""They register their tables as they are imported."""

metadata = tables.metadata
