"""Notifications to owners: what they want, what they are owed, and sending it."""
