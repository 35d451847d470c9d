"""Decisions and the records they are about. Pure: time and randomness come in as arguments."""
