"""Composition: the rooms put together into programs; the only place that reads the environment."""
