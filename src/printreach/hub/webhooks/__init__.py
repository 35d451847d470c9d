"""Webhooks of apps: what they are owed, and how it is delivered."""
