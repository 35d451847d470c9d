"""The database on a PostgreSQL server. Its driver is an extra: only who uses one loads this."""
