"""Prints: their events handed on, their history, and the snapshots of both."""
