"""The database; at present SQLite in the data directory.

Start with store.py, which opens it; tables.py declares the tables that several features share, and
writer.py tells why nothing is lost. A feature's records are in its folder.
"""
