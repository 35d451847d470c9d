"""asyncio around the wire session: links that carry messages, tunnels, streams.

No web framework and no policy: the relay and the agent decide what a stream means.
"""
