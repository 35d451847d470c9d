"""Notifications to people: what they chose, what is enqueued, and how it is sent."""
