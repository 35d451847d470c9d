"""Composition of the use cases, a file for each feature, shared by the web role and the
commands.
"""
