"""Backups of an installation: its database and its data directory in one file, and back again."""
