"""Connections to printers: pages, APIs and the permissions of each."""
