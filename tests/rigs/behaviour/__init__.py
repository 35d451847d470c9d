"""A printer's web server that misbehaves on request and remembers what happened to it.

The first segment of the path picks the behaviour (see table.py); any other path is echoed.
What a test wants to know afterwards, or to trigger in mid-answer, goes through /control, which
tests call directly and never through the relay.
"""
