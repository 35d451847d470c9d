"""The meaning of a Host line."""

import pytest

from printreach.relay.hosts import (
    DetectorHost,
    ForeignHost,
    Hosts,
    NamedHost,
    OwnHost,
    PrinterHost,
)

HERE = Hosts("https://Print.example.com", "tunnel.example.net:8443")


@pytest.mark.parametrize(
    ("host", "named"),
    [
        (b"print.example.com", OwnHost()),
        (b"PRINT.example.COM:443", OwnHost()),
        (b"print.example.com.", OwnHost()),
        (b"print.example.com.:8080", OwnHost()),
        (b"app-1.tunnel.example.net", PrinterHost("app-1")),
        (b"APP-1.Tunnel.Example.Net:1", PrinterHost("app-1")),
        (b"app-1.tunnel.example.net.", PrinterHost("app-1")),
        (b"nothing.tunnel.example.net", PrinterHost("nothing")),
        (b".tunnel.example.net", PrinterHost("")),
        (b"tunnel.example.net", ForeignHost()),
        (b"a.app-1.tunnel.example.net", ForeignHost()),
        (b"app-1.tunnel.example.net.evil.example", ForeignHost()),
        (b"app-1tunnel.example.net", ForeignHost()),
        (b"evil-print.example.com", ForeignHost()),
        (b"x.print.example.com", ForeignHost()),
        (b"127.0.0.1:8080", ForeignHost()),
        (b"[::1]:8080", ForeignHost()),
        (b"", ForeignHost()),
        (b"print.example.com..", ForeignHost()),
    ],
)
def test_a_host_names_the_service_one_printer_or_somebody_else(
    host: bytes, named: NamedHost
) -> None:
    assert HERE.named(host) == named


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        ("http://localhost:8080", b"localhost:8080"),
        ("http://[::1]:8080", b"[::1]:8080"),
        ("http://192.168.1.2:8080/", b"192.168.1.2"),
    ],
)
def test_the_base_url_may_have_any_host(base_url: str, host: bytes) -> None:
    hosts = Hosts(base_url, "localhost:8080")

    assert hosts.named(host) == OwnHost()
    assert hosts.named(b"own-1.localhost:8080") == PrinterHost("own-1")


def test_the_service_may_live_under_its_own_tunnel_domain() -> None:
    hosts = Hosts("https://print.example.com", "example.com")

    assert hosts.named(b"print.example.com") == OwnHost()
    assert hosts.named(b"app-1.example.com") == PrinterHost("app-1")


@pytest.mark.parametrize("domain", ["tunnel.example.net", "example.com"])
def test_failure_detection_may_have_a_name_of_its_own(domain: str) -> None:
    hosts = Hosts("https://print.example.com", domain, "https://Eye.example.com:8443")

    assert hosts.named(b"eye.example.com:8443") == DetectorHost()
    assert hosts.named(b"print.example.com") == OwnHost()
    assert hosts.named(b"") == ForeignHost()


def test_failure_detection_by_the_services_own_name_is_the_service_itself() -> None:
    for detector_url in ("", "https://print.example.com/"):
        hosts = Hosts("https://print.example.com", "tunnel.example.net", detector_url)

        assert hosts.named(b"print.example.com") == OwnHost()
        assert hosts.named(b"") == ForeignHost()


@pytest.mark.parametrize(
    ("base_url", "host", "origin"),
    [
        ("http://x", b"own-1.localhost:8080", "http://own-1.localhost:8080"),
        ("http://x", b"OWN-1.localhost:80", "http://own-1.localhost"),
        ("http://x", b"own-1.localhost:443", "http://own-1.localhost:443"),
        ("https://x", b"own-1.example:443", "https://own-1.example"),
        ("https://x", b"own-1.example:8443", "https://own-1.example:8443"),
        ("https://x", b"own-1.example:4443", "https://own-1.example:4443"),
    ],
)
def test_the_origin_of_a_hosts_pages_is_written_as_browsers_do(
    base_url: str, host: bytes, origin: str
) -> None:
    assert Hosts(base_url, "example").origin(host) == origin
