"""One folder per kind of printer; registry.py is the table of them."""
