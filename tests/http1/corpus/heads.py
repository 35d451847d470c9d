"""Heads that are refused, each with the request that a lenient parser would answer next."""

from . import HOST, NEXT, Refused, request

OTHER = b"other.example"
CHUNKED = b"Transfer-Encoding: chunked"
EMPTY_CHUNKS = b"0\r\n\r\n"
KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13", KEY)


def _post(name: str, *fields: bytes, status: int = 400, body: bytes = EMPTY_CHUNKS) -> Refused:
    return Refused(name, request(*fields, body=body) + NEXT, status)


def _line(name: str, line: bytes, status: int = 400) -> Refused:
    return Refused(name, request(line=line) + NEXT, status)


def _raw(name: str, raw: bytes, status: int = 400) -> Refused:
    return Refused(name, raw + NEXT, status)


def _hosts(name: str, *fields: bytes, line: bytes = b"GET / HTTP/1.1") -> Refused:
    return _raw(name, b"\r\n".join([line, *fields, b"", b""]))


FRAMING = [
    # Content-Length and Transfer-Encoding together, whoever believes which
    _post("CL.TE", b"Content-Length: 5", CHUNKED),
    _post("TE.CL", CHUNKED, b"Content-Length: 5"),
    _post("CL 0 and TE", b"Content-Length: 0", CHUNKED),
    _post("CL and an unknown TE", b"Content-Length: 5", b"Transfer-Encoding: x"),
    _post("CL and TE identity", b"Content-Length: 5", b"Transfer-Encoding: identity"),
    _post("CL and an empty TE", b"Content-Length: 5", b"Transfer-Encoding:"),
    # Content-Length that is not one plain number
    _post("CL.CL differing", b"Content-Length: 5", b"Content-Length: 0"),
    _post("CL.CL the same", b"Content-Length: 5", b"Content-Length: 5"),
    _post("CL.CL in another case", b"Content-Length: 5", b"content-length: 6"),
    _post("CL list of the same", b"Content-Length: 5, 5"),
    _post("CL list without blank", b"Content-Length: 5,5"),
    _post("CL list differing", b"Content-Length: 0, 5"),
    _post("CL with trailing comma", b"Content-Length: 5,"),
    _post("CL with plus", b"Content-Length: +5"),
    _post("CL with minus", b"Content-Length: -5"),
    _post("CL minus zero", b"Content-Length: -0"),
    _post("CL hexadecimal", b"Content-Length: 0x5"),
    _post("CL with underscore", b"Content-Length: 1_0"),
    _post("CL with fraction", b"Content-Length: 5.0"),
    _post("CL with exponent", b"Content-Length: 5e0"),
    _post("CL of two words", b"Content-Length: 5 5"),
    _post("CL with a unit", b"Content-Length: 5 bytes"),
    _post("CL quoted", b'Content-Length: "5"'),
    _post("CL empty", b"Content-Length:"),
    _post("CL blank", b"Content-Length:  \t "),
    _post("CL of a word", b"Content-Length: five"),
    _post("CL of 20 digits", b"Content-Length: 18446744073709551621"),
    _post("CL of 20 digits with zeros", b"Content-Length: 00000000000000000005"),
    _post("CL in superscript", b"Content-Length: \xb2"),
    _post("CL in Arabic digits", "Content-Length: \u0665".encode()),
    _post("CL after vertical tab", b"Content-Length: \x0b5"),
    _post("CL before form feed", b"Content-Length: 5\x0c"),
    _post("CL after no-break space", b"Content-Length: \xa05"),
    # Transfer-Encoding that somebody may take for chunked, or for none
    _post("TE.TE differing", CHUNKED, b"Transfer-Encoding: x"),
    _post("TE.TE the same", CHUNKED, CHUNKED),
    _post("TE.TE identity first", b"Transfer-Encoding: identity", CHUNKED),
    _post("TE chunked twice", b"Transfer-Encoding: chunked, chunked"),
    _post("TE chunked not last", b"Transfer-Encoding: chunked, identity"),
    _post("TE chunked before gzip", b"Transfer-Encoding: chunked, gzip"),
    _post("TE after vertical tab", b"Transfer-Encoding: \x0bchunked"),
    _post("TE after form feed", b"Transfer-Encoding: \x0cchunked"),
    _post("TE before vertical tab", b"Transfer-Encoding: chunked\x0b"),
    _post("TE before NUL", b"Transfer-Encoding: chunked\x00"),
    _post("TE with NUL inside", b"Transfer-Encoding: chu\x00nked"),
    _post("TE after no-break space", b"Transfer-Encoding: \xa0chunked"),
    _post("TE with Kelvin sign", "Transfer-Encoding: chun\u212aed".encode()),
    _post("TE double-quoted", b'Transfer-Encoding: "chunked"'),
    _post("TE with a parameter", b"Transfer-Encoding: chunked;q=1"),
    _post("TE with an empty parameter", b"Transfer-Encoding: chunked;"),
    _post("TE with leading comma", b"Transfer-Encoding: , chunked"),
    _post("TE with trailing comma", b"Transfer-Encoding: chunked,"),
    _post("TE of two words", b"Transfer-Encoding: chunked identity"),
    _post("TE empty", b"Transfer-Encoding:"),
    _post("TE with a colon", b"Transfer-Encoding: : chunked"),
    _post("TE folded", b"Transfer-Encoding:\r\n chunked"),
    _post("TE folded by tab", b"Transfer-Encoding: x\r\n\tchunked"),
    _post("TE with bare CR before", b"Transfer-Encoding: \rchunked"),
    _post("TE with bare LF before", b"Transfer-Encoding:\nchunked"),
    _post("TE behind a bare LF", b"X: y\nTransfer-Encoding: chunked"),
    _post("TE behind a bare CR", b"X: y\rTransfer-Encoding: chunked"),
    _raw("TE on HTTP/1.0", request(CHUNKED, line=b"POST / HTTP/1.0") + EMPTY_CHUNKS),
    _raw(
        "TE on HTTP/1.0 kept alive",
        request(CHUNKED, b"Connection: keep-alive", line=b"POST / HTTP/1.0") + EMPTY_CHUNKS,
    ),
    _post("TE single-quoted", b"Transfer-Encoding: 'chunked'", status=501),
    _post("TE xchunked", b"Transfer-Encoding: xchunked", status=501),
    _post("TE identity", b"Transfer-Encoding: identity", status=501),
    _post("TE gzip", b"Transfer-Encoding: gzip", status=501),
    _post("TE gzip and chunked", b"Transfer-Encoding: gzip, chunked", status=501),
    _post("TE identity and chunked", b"Transfer-Encoding: identity,chunked", status=501),
]

LINES = [
    _post("blank before the colon of TE", b"Transfer-Encoding : chunked"),
    _post("tab before the colon of TE", b"Transfer-Encoding\t: chunked"),
    _post("blank before the colon of CL", b"Content-Length : 5"),
    _post("blank before a name", b" Transfer-Encoding: chunked"),
    _post("fold", b"X: a", b" b"),
    _post("fold by tab", b"X: a", b"\tb"),
    _post("fold of nothing", b"X: a", b" "),
    _post("line without colon", b"X: a", b"Transfer-Encoding chunked"),
    _post("line without name", b": chunked"),
    _post("name with NUL", b"Transfer-Encoding\x00: chunked"),
    _post("name that begins with NUL", b"\x00Transfer-Encoding: chunked"),
    _post("name with vertical tab", b"Transfer-Encoding\x0b: chunked"),
    _post("name with blank", b"Transfer Encoding: chunked"),
    _post("name with slash", b"Transfer/Encoding: chunked"),
    _post("name in quotes", b'"Transfer-Encoding": chunked'),
    _post("name in brackets", b"Transfer-Encoding[]: chunked"),
    _post("name with high byte", b"Transfer-Encoding\xa0: chunked"),
    _post("name with bare CR", b"\rTransfer-Encoding: chunked"),
    _post("value with NUL", b"X: a\x00b"),
    _post("value with bare CR", b"X: a\rb"),
    _post("value with CR at its end", b"X: a\r"),
    _post("value with escape", b"X: \x1b[2J"),
    _post("value with delete", b"X: a\x7f"),
    _raw("head of bare LF", b"GET / HTTP/1.1\nHost: " + HOST + b"\n\n"),
    _raw("first line of bare LF", b"GET / HTTP/1.1\nHost: " + HOST + b"\r\n\r\n"),
    _raw("last line of bare LF", b"GET / HTTP/1.1\r\nHost: " + HOST + b"\r\n\n"),
    _raw("blank line behind bare LF", b"GET / HTTP/1.1\r\nHost: " + HOST + b"\n\r\n"),
    _raw("head of bare CR", b"GET / HTTP/1.1\rHost: " + HOST + b"\r\r"),
    _raw("lines ended by CR CR LF", b"GET / HTTP/1.1\r\r\nHost: " + HOST + b"\r\r\n\r\n"),
    _raw("lines ended by LF CR", b"GET / HTTP/1.1\n\rHost: " + HOST + b"\n\r\n\r"),
    _raw("fold before the first field", b"GET / HTTP/1.1\r\n Host: " + HOST + b"\r\n\r\n"),
    _raw("two empty lines first", b"\r\n\r\n" + request(line=b"GET / HTTP/1.1")),
    _post("head over 32 KiB in one line", b"X: " + b"a" * 33_000, status=431),
    _post("head over 32 KiB in many lines", *[b"X: y"] * 6_000, status=431),
    _line("target that fills 32 KiB", b"GET /" + b"a" * 33_000 + b" HTTP/1.1", status=431),
]

ADDRESS = [
    _hosts("no Host"),
    _hosts("two Hosts", b"Host: " + HOST, b"Host: " + OTHER),
    _hosts("two Hosts the same", b"Host: " + HOST, b"Host: " + HOST),
    _hosts("two Hosts in another case", b"Host: " + HOST, b"hOsT: " + OTHER),
    _hosts("two Hosts on HTTP/1.0", b"Host: a", b"Host: b", line=b"GET / HTTP/1.0"),
    _hosts("Host list", b"Host: %b, %b" % (HOST, OTHER)),
    _hosts("Host of two words", b"Host: %b %b" % (HOST, OTHER)),
    _hosts("Host empty", b"Host:"),
    _hosts("Host with user", b"Host: %b@%b" % (OTHER, HOST)),
    _hosts("Host with path", b"Host: %b/x" % HOST),
    _hosts("Host with query", b"Host: %b?x" % HOST),
    _hosts("Host with fragment", b"Host: %b#%b" % (HOST, OTHER)),
    _hosts("Host with backslash", b"Host: %b\\%b" % (HOST, OTHER)),
    _hosts("Host with scheme", b"Host: http://%b" % HOST),
    _hosts("Host with empty port", b"Host: %b:" % HOST),
    _hosts("Host with two ports", b"Host: %b:80:80" % HOST),
    _hosts("Host with a word for port", b"Host: %b:http" % HOST),
    _hosts("Host with signed port", b"Host: %b:+80" % HOST),
    _hosts("Host that is a port", b"Host: :80"),
    _hosts("Host with escape", b"Host: printer%2eexample"),
    _hosts("Host with NUL", b"Host: %b\x00.%b" % (HOST, OTHER)),
    _hosts("Host with high bytes", b"Host: printer\xe3\x80\x82example"),
    _hosts("Host with open bracket", b"Host: [::1"),
    _hosts("Host with zone", b"Host: [fe80::1%25eth0]"),
    _hosts("Host behind a blank before its colon", b"Host : " + OTHER, b"Host: " + HOST),
    _hosts("Host folded", b"Host: " + HOST, b" " + OTHER),
    _line("absolute form of another host", b"GET http://other.example/ HTTP/1.1"),
    _line("absolute form with another port", b"GET http://%b:81/ HTTP/1.1" % HOST),
    _line("absolute form with user", b"GET http://x@%b/ HTTP/1.1" % HOST),
    _line("absolute form with another host as user", b"GET http://%b@x/ HTTP/1.1" % HOST),
    _line("absolute form without host", b"GET http:///x HTTP/1.1"),
    _line("absolute form with backslash", b"GET http://%b\\@x/ HTTP/1.1" % HOST),
    _line("absolute form of a file", b"GET file://%b/etc/passwd HTTP/1.1" % HOST),
    _line("absolute form of a WebSocket", b"GET ws://%b/ HTTP/1.1" % HOST),
    _hosts("absolute form without Host on HTTP/1.0", line=b"GET http://printer.example/ HTTP/1.0"),
]

FIRST_LINES = [
    _line("target without slash", b"GET x HTTP/1.1"),
    _line("target that begins with backslash", b"GET \\x HTTP/1.1"),
    _line("target that begins with @", b"GET @other.example/ HTTP/1.1"),
    _line("target that is a query", b"GET ?x HTTP/1.1"),
    _line("target of a host and a port", b"GET printer.example:80 HTTP/1.1"),
    _line("target * of GET", b"GET * HTTP/1.1"),
    _line("target with fragment", b"GET /x#y HTTP/1.1"),
    _line("target with blank", b"GET /x y HTTP/1.1"),
    _line("target with tab", b"GET /x\ty HTTP/1.1"),
    _line("target with NUL", b"GET /x\x00y HTTP/1.1"),
    _line("target with bare CR", b"GET /x\ry HTTP/1.1"),
    _line("target with bare LF", b"GET /x\ny HTTP/1.1"),
    _line("target with delete", b"GET /x\x7f HTTP/1.1"),
    _line("target with a request in it", b"GET /x HTTP/1.1\nX: / HTTP/1.1"),
    _line("target missing", b"GET HTTP/1.1"),
    _line("two blanks behind the method", b"GET  / HTTP/1.1"),
    _line("two blanks before the version", b"GET /  HTTP/1.1"),
    _line("tab behind the method", b"GET\t/ HTTP/1.1"),
    _line("blank before the method", b" GET / HTTP/1.1"),
    _line("blank behind the version", b"GET / HTTP/1.1 "),
    _line("HEAD in lower case", b"head / HTTP/1.1"),
    _line("HEAD in mixed case", b"Head / HTTP/1.1"),
    _line("CONNECT in lower case", b"connect printer.example:443 HTTP/1.1", status=501),
    _line("CONNECT in mixed case", b"Connect / HTTP/1.1", status=501),
    _line("method missing", b" / HTTP/1.1"),
    _line("method of 33 bytes", b"G" * 33 + b" / HTTP/1.1"),
    _line("method with colon", b"GET: / HTTP/1.1"),
    _line("method with NUL", b"GE\x00T / HTTP/1.1"),
    _line("HTTP/0.9", b"GET /"),
    _line("HTTP/0.9 with blank", b"GET / "),
    _line("HTTP/1.2", b"GET / HTTP/1.2"),
    _line("HTTP/1.10", b"GET / HTTP/1.10"),
    _line("HTTP/01.1", b"GET / HTTP/01.1"),
    _line("HTTP/1", b"GET / HTTP/1"),
    _line("HTTP/1,1", b"GET / HTTP/1,1"),
    _line("http/1.1", b"GET / http/1.1"),
    _line("HTTPS/1.1", b"GET / HTTPS/1.1"),
    _line("RTSP", b"DESCRIBE / RTSP/1.0"),
    _line("ICE", b"SOURCE /mount ICE/1.0"),
    _line("version with NUL", b"GET / HTTP/1.1\x00"),
    _line("HTTP/0.9 by name", b"GET / HTTP/0.9", status=505),
    _line("HTTP/2.0", b"GET / HTTP/2.0", status=505),
    _line("HTTP/9.9", b"GET / HTTP/9.9", status=505),
    _raw("preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status=505),
    _line("CONNECT", b"CONNECT printer.example:443 HTTP/1.1", status=501),
    _line("CONNECT to a path", b"CONNECT / HTTP/1.1", status=501),
    _raw("a TLS greeting", b"\x16\x03\x01\x00\xc4\x01\x00\x00\xc0\x03\x03\r\n\r\n"),
]

MEANING = [
    Refused(
        "WebSocket handshake with a body",
        request(*HANDSHAKE, b"Content-Length: 5", line=b"GET / HTTP/1.1", body=b"hello") + NEXT,
        400,
    ),
    Refused(
        "WebSocket handshake with a chunked body",
        request(*HANDSHAKE, CHUNKED, line=b"GET / HTTP/1.1", body=EMPTY_CHUNKS) + NEXT,
        400,
    ),
    _post("Expect of something else", b"Expect: 200-ok", status=417),
    _post("Expect of a list", b"Expect: 100-continue, x", status=417),
    _post("Expect twice", b"Expect: 100-continue", b"Expect: x", status=417),
    _post("Expect empty", b"Expect:", status=417),
]

REFUSED_HEADS = [*FRAMING, *LINES, *ADDRESS, *FIRST_LINES, *MEANING]
