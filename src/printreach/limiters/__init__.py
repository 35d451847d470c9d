"""Limits on how much is under way at once, for any room.

Limits on how often something may happen are in rules/rate_limits.py.
"""
