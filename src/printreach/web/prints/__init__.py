"""Prints: their history, pictures and events."""
