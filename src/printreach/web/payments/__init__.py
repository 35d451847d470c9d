"""Supporter status: its pages, the offers, and the webhook of the payment provider."""
