"""The store in an SQL database; SQLite in the data directory, for now.

Start with store.py, which opens it; tables.py is what it holds, writer.py why nothing is lost.
"""
