"""The ways of a caller to a printer: straight to its port, or through the relay."""

import socket
import ssl
from base64 import b64encode
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import urlsplit

Header = tuple[str, str]

ANSWER_SECONDS = 60.0


def basic(user: str, password: str) -> Header:
    """The header of HTTP Basic."""
    return "Authorization", "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def bearer(token: str) -> Header:
    """The header of a bearer token."""
    return "Authorization", f"Bearer {token}"


@dataclass(frozen=True, kw_only=True)
class Way:
    """The socket to open, the name to say and the proof to give.

    Every address is a loopback one, whatever host says: Python's resolver knows no *.localhost.
    host: what stands in the Host header, port included.
    is_direct: True where no relay stands between, so rules of the relay do not hold.
    """

    port: int
    host: str
    credentials: tuple[Header, ...] = ()
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    is_direct: bool = False

    @classmethod
    def straight(cls, url: str, tls: ssl.SSLContext | None = None) -> Self:
        """To a server at this URL with nothing between."""
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return cls(port=port, host=parts.netloc, tls=tls, is_direct=True)

    @property
    def scheme(self) -> str:
        """http or https."""
        return "http" if self.tls is None else "https"

    @property
    def url(self) -> str:
        """The root, as a person would type it."""
        return f"{self.scheme}://{self.host}"

    @property
    def origin(self) -> str:
        """Return the Origin of a browser on this host."""
        return self.url

    @property
    def hostname(self) -> str:
        """The host without its port."""
        return self.host.rpartition(":")[0] or self.host

    def proving(self, *credentials: Header) -> Self:
        """The same way with other credentials, or with none."""
        return replace(self, credentials=credentials)

    def named(self, host: str) -> Self:
        """The same socket, asking for another host."""
        return replace(self, host=host)

    def connect(self, seconds: float = ANSWER_SECONDS) -> socket.socket:
        """A connected socket, TLS done where the way has it."""
        plain = self.connect_plain(seconds)
        if self.tls is None:
            return plain
        return self.tls.wrap_socket(plain, server_hostname=self.hostname)

    def connect_plain(self, seconds: float = ANSWER_SECONDS) -> socket.socket:
        """A connected socket for a library that does TLS itself."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=seconds)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return plain
