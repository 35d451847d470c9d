"""Many printers with their agents in one process: real sign-in, real streams, real reconnecting.

Each printer knows its number, and complains about a request that was meant for another.
"""
