"""Composition: builds programs from the rooms; the only place that reads the environment."""
