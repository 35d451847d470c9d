"""Webhooks of apps: their queues, and how these are delivered."""
