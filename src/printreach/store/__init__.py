"""The database; at present SQLite in the data directory.

Start with store.py, which opens it; tables.py declares the tables, writer.py tells why nothing is
lost.
"""
