"""Scores an image of a print: how likely it shows a failure."""
