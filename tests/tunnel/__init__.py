"""The driver around a session: links, streams, turns, ends."""
