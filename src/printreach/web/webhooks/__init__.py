"""Webhooks of apps: their API and their deliveries."""
