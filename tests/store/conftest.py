"""Each test of the store has a database file of its own."""

from tests.rigs.databases import database, migrated, postgresql

__all__ = ["database", "migrated", "postgresql"]
