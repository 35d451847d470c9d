"""The bytes of the tunnel: a sans-IO session that both ends run. Standard library only.

docs/protocol.md has every byte. Start with session.py; frames.py is the byte layout.
"""
