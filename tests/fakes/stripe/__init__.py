"""Stripe as far as selling a subscription goes: its API, its pages, and its signed calls."""
