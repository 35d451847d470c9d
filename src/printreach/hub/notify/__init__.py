"""Notifications to owners: their choices, the queue of messages, and sending."""
