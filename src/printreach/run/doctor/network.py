"""Checks of the way from browsers, apps and agents to the service, and the checks' requests."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from printreach.backends.lookups import Lookup
from printreach.contract.errors import ErrorCode
from printreach.http1.fetch import FetchedAnswer, Fetcher, FetchFailed
from printreach.rules.addresses import is_encrypted
from printreach.run.doctor.findings import Finding, failure, fine, together, warning
from printreach.run.settings import Settings, address_warnings
from printreach.wire.heads import Headers

EXPIRES_SOON: Final = timedelta(days=14)
"""Let's Encrypt's clients renew 30 days before; with less left, that has failed for two weeks."""

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True, slots=True)
class WebProbe:
    """Asks web servers. look_up: finds addresses. tls: decides which certificates are valid."""

    look_up: Lookup
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    async def addresses(self, host: str) -> list[str]:
        """Return the addresses of a host. Raises OSError if there are none."""
        if is_of_this_machine(host):
            return ["127.0.0.1", "::1"]  # RFC 6761, 6.3
        return list(await self.look_up(host))

    async def get(self, url: str, headers: Headers | None = None) -> FetchedAnswer:
        """Fetch a page. Raises FetchFailed, and OSError if its host has no address."""
        parts = urlsplit(url)
        [first, *_] = await self.addresses(parts.hostname or "")
        tls = self.tls if parts.scheme == "https" else None
        loop = asyncio.get_running_loop()
        fetcher = Fetcher(
            lambda protocol: loop.create_connection(
                protocol,
                first,
                port_of(parts),
                ssl=tls,
                server_hostname=parts.hostname if tls else None,
            ),
            parts.netloc.encode(),
        )
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            return await fetcher.fetch(b"GET", target.encode() or b"/", headers or [])
        finally:
            await fetcher.close()

    async def certificate_ends_at(self, url: str) -> datetime:
        """Return when the certificate expires. Raises OSError, and so SSLError if it is invalid."""
        parts = urlsplit(url)
        [first, *_] = await self.addresses(parts.hostname or "")
        _, writer = await asyncio.open_connection(
            first, port_of(parts), ssl=self.tls, server_hostname=parts.hostname
        )
        try:
            certificate = writer.get_extra_info("peercert")
        finally:
            writer.transport.abort()
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)


def is_of_this_machine(host: str) -> bool:
    """Return whether a name leads to this machine without DNS."""
    return host == "localhost" or host.endswith(".localhost")


def port_of(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkChecks:
    """The checks. unused_label: a name below the tunnel domain that no connection has.

    environ: tells which settings were given.
    """

    settings: Settings
    environ: Mapping[str, str]
    probe: WebProbe
    unused_label: str
    at: datetime

    async def addresses(self) -> Finding:
        split = [one.partition(". ") for one in address_warnings(self.settings, self.environ)]
        warnings = [warning(f"{told}.", advice) for told, _, advice in split]
        return together(warnings or [fine(f"Links lead to {self.settings.base_url}.")])

    async def dns(self) -> Finding:
        host = self._host
        if _needs_no_dns(host):
            return fine(f"{host} needs no DNS.")
        try:
            addresses = await self.probe.addresses(host)
        except OSError:
            return failure(
                f"{host} has no address.",
                "Add an A or AAAA record for it, or correct PRINTREACH_BASE_URL.",
            )
        return fine(f"{host} leads to {', '.join(addresses)}.")

    async def wildcard(self) -> Finding:
        ports = self.settings.tunnel_ports
        if ports:
            return fine(f"Connections have ports from {ports[0]} to {ports[-1]} in place of names.")
        domain = urlsplit(f"//{self.settings.tunnel_domain}").hostname or ""
        if is_of_this_machine(domain):
            return fine(f"Browsers and curl find names below {domain} by themselves.")
        try:
            addresses = await self.probe.addresses(f"{self.unused_label}.{domain}")
        except OSError:
            return failure(
                f"Names below {domain} have no address, so no connection can be reached.",
                f"Add a wildcard record *.{domain}, or set PRINTREACH_TUNNEL_PORTS.",
            )
        return await self._compared(domain, addresses)

    async def certificate(self) -> Finding:
        if urlsplit(self.settings.base_url).scheme != "https":
            if is_encrypted(self.settings.base_url):
                return fine("There is no TLS, and nobody on the way: the service is on localhost.")
            return warning(
                f"{self.settings.base_url} has no TLS, so anybody on the way can read passwords.",
                "Put a proxy with a certificate before it, and correct PRINTREACH_BASE_URL.",
            )
        ends = list[tuple[datetime, str]]()
        for url in self._urls():
            name = urlsplit(url).hostname or ""
            try:
                ends.append((await self.probe.certificate_ends_at(url), name))
            except ssl.SSLCertVerificationError as error:
                return failure(
                    f"The certificate for {name} isn't valid: {error.verify_message}.",
                    "Get one that covers this name; for connections that is a wildcard.",
                )
            except OSError as error:
                return failure(
                    f"There is no TLS at {name}: {_reason(error)}.",
                    "Look at the proxy before the service.",
                )
        end, name = min(ends)
        told = f"The certificate for {name} expires on {end:%Y-%m-%d}."
        if end - self.at < EXPIRES_SOON:
            return warning(told, "See why it isn't renewed; its program's log says so.")
        return fine(told)

    async def service(self) -> Finding:
        """Ask the service by its public address whether it lives."""
        url = f"{self.settings.base_url}/healthz"
        try:
            answer = await self.probe.get(url)
        except (FetchFailed, OSError) as error:
            return failure(
                f"{url} can't be reached: {_reason(error)}.",
                "Start the service, and look at the proxy before it. From within a network its"
                " public address may not work, though it does from outside.",
            )
        if answer.status != 200:
            return failure(
                f"{url} answers {answer.status}.", "Look at the service's log, and at its proxy."
            )
        return fine(f"{self.settings.base_url} answers.")

    async def printer_hosts(self) -> Finding:
        """Ask for a connection that doesn't exist: only the service's relay says so by its code."""
        if self.settings.tunnel_ports:
            return fine("Connections have ports, each of which is opened with its connection.")
        url = f"{self._scheme}://{self.unused_label}.{self.settings.tunnel_domain}/"
        try:
            answer = await self.probe.get(url)
        except (FetchFailed, OSError) as error:
            return failure(
                f"Hosts of connections can't be reached: {_reason(error)}.",
                "Have the proxy pass all names below PRINTREACH_TUNNEL_DOMAIN on to the service.",
            )
        if answer.status != ErrorCode.CONNECTION_NOT_FOUND:
            return failure(
                f"Requests for hosts of connections come to something else: {url} answers"
                f" {answer.status}.",
                "Have the proxy pass all names below PRINTREACH_TUNNEL_DOMAIN on to the service,"
                " with the Host line as it is.",
            )
        return fine(f"Requests for names below {self.settings.tunnel_domain} come to the service.")

    @property
    def _host(self) -> str:
        return urlsplit(self.settings.base_url).hostname or ""

    @property
    def _scheme(self) -> str:
        return urlsplit(self.settings.base_url).scheme

    def _urls(self) -> list[str]:
        """Return the addresses that need a certificate."""
        if self.settings.tunnel_ports:
            return [self.settings.base_url]
        below = f"{self._scheme}://{self.unused_label}.{self.settings.tunnel_domain}"
        return [self.settings.base_url, below]

    async def _compared(self, domain: str, addresses: list[str]) -> Finding:
        try:
            others = await self.probe.addresses(self._host)
        except OSError:
            others = addresses  # told by the check of its own
        if set(addresses).isdisjoint(others):
            return warning(
                f"Names below {domain} lead to {', '.join(addresses)}, and {self._host} to"
                f" {', '.join(others)}.",
                "Both have to lead to the service.",
            )
        return fine(f"Names below {domain} lead to {', '.join(addresses)}.")


def _reason(error: FetchFailed | OSError) -> str:
    return str(getattr(error, "strerror", None) or error)


def _needs_no_dns(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return is_of_this_machine(host)
    return True
