"""The agent: one small process beside the printer that holds a tunnel to the service open.

Start with runtime.py, which puts the parts together. Imports nothing of the server: a
Raspberry Pi carries cryptography, msgspec and picows, and no more.
"""
