"""The same bytes parsed by httptools, a parser that many servers use, for comparison."""

import httptools


class Oracle:
    """One request, parsed by httptools; refused if it raised."""

    def __init__(self, data: bytes) -> None:
        self.target = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.done = False
        self.refused = False
        self._parser = httptools.HttpRequestParser(self)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # its way to say that it stops here
        except httptools.HttpParserError:
            self.refused = True

    @property
    def method(self) -> bytes:
        return self._parser.get_method()

    def on_url(self, url: bytes) -> None:
        self.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_message_complete(self) -> None:
        self.done = True
