"""HTTP/1.1 by bytes, the same for the relay's front, the agent and the simulated printer.

heads.py reads request and response heads, chunked.py reads and writes chunked bodies, and
server_core.py is the server's side of a connection. They are sans-IO and strict: what could be read
in two ways is refused, because the next program on the way may read it in the other one (request
smuggling). RFC 9110 and RFC 9112 are meant where a comment names a section.
"""
