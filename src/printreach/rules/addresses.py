"""The addresses of pages, printers and pictures. No other module builds them."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from printreach.contract.commands import OPEN_PATH
from printreach.rules.connections import Connection
from printreach.rules.own_paths import HOME

STRICT_TRANSPORT_SECURITY: Final = "max-age=31536000"
"""RFC 6797, for a year. Without includeSubDomains: names below may be of other services."""

_SAME_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def may_require_https(address: str) -> bool:
    """Whether browsers may be told to use nothing but https with the host of an address.

    They apply it to every port of the host: a service on a port of its own may share its name with
    others, which answer by http alone.
    """
    parts = urlsplit(address)
    return parts.scheme == "https" and parts.port in (None, 443)


def is_encrypted(base_url: str) -> bool:
    """Whether nobody on the way can read what browsers send there: by TLS, or on one machine."""
    parts = urlsplit(base_url)
    return parts.scheme == "https" or parts.hostname in _SAME_MACHINE


@dataclass(frozen=True, kw_only=True, slots=True)
class Addresses:
    """Builds addresses. base_url: without a final slash.

    tunnel_domain: a host name, maybe with a port.
    """

    base_url: str
    tunnel_domain: str

    def of_connection(self, connection: Connection) -> str:
        """Return the connection's root address, without a slash at the end.

        A connection with its own port is addressed by it: an installation with ports has no host
        names for connections.
        """
        base = urlsplit(self.base_url)
        if connection.port is not None:
            return f"{base.scheme}://{_in_url(base.hostname or '')}:{connection.port}"
        return f"{base.scheme}://{connection.unique_id}.{self.tunnel_domain}"

    def of_printer_page(self, printer_id: str) -> str:
        """Return the dashboard's page of a printer, for people; it asks them to sign in."""
        return f"{self.base_url}/printers/{quote(printer_id, safe='')}"

    def of_end_of_mails(self, token: str) -> str:
        """Return where mails about prints are stopped, by a person or by their mail program."""
        return f"{self.base_url}/notifications/stop?token={quote(token, safe='')}"

    def of_snapshot(self, snapshot_id: str) -> str:
        """Return a picture that was taken for an event; anybody with the address may see it."""
        return f"{self.base_url}/snapshots/{quote(snapshot_id, safe='')}.jpg"

    def of_turned_snapshot(self, snapshot_id: str) -> str:
        """Return the same for people, to whom it is shown as its owner turned and flipped the
        camera.
        """
        return f"{self.of_snapshot(snapshot_id)}?turned=yes"

    def of_timelapse(self, video_id: str) -> str:
        """Return the address of the video of a print."""
        return f"{self.base_url}/timelapses/{video_id}.mp4"

    def of_live_link(self, live_id: str) -> str:
        """Return the page of a Live Link, for anybody who has the address."""
        return f"{self.base_url}/live/{quote(live_id, safe='')}"

    def of_short_live_link(self, short_id: str) -> str:
        """Return the short address of a Live Link, to be read out or typed."""
        return f"{self.base_url}/l/{quote(short_id, safe='')}"

    def of_completion_page(self) -> str:
        """Return where the portal ends for apps without a page of their own."""
        return f"{self.base_url}/appportal/v1/complete"

    def of_test_page(self) -> str:
        """Return where the portal ends for developers who try it: a page that shows what came."""
        return f"{self.base_url}/appportal/v1/test"

    def of_open_ticket(self, connection: Connection, ticket: str, printer_path: str = HOME) -> str:
        """Return the link that signs a browser in to one own connection, once.

        printer_path: where it leads to on that host.
        """
        path = f"{OPEN_PATH.decode()}?ticket={quote(ticket, safe='')}"
        if printer_path != HOME:
            path += f"&at={quote(printer_path, safe='/')}"
        return self.of_connection(connection) + path

    def of_shared_link(self, connection: Connection, token: str) -> str:
        """Return the link that signs a browser in to a Shared Connection.

        token: its bearer token.
        """
        path = f"{OPEN_PATH.decode()}?service_api_key={quote(token, safe='')}"
        return self.of_connection(connection) + path


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
