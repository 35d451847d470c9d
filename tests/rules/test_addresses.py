"""The addresses that apps and people get, and the pages that may be redirected to."""

from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.addresses import Addresses, may_require_https
from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.own_paths import code_path, parse_own_path, sign_in_path

ADDRESSES = Addresses(base_url="https://reach.example", tunnel_domain="tunnel.example:8443")
CONNECTION = Connection(
    connection_id="c1",
    unique_id="app-abc",
    kind=ConnectionKind.APP,
    app_id="demo",
    printer_id="p1",
    account_id="ada",
    port=None,
    created_at=datetime(2026, 5, 1, tzinfo=UTC),
)


def test_a_connection_is_a_host_under_the_tunnel_domain_with_the_services_scheme() -> None:
    assert ADDRESSES.of_connection(CONNECTION) == "https://app-abc.tunnel.example:8443"


def test_a_connection_with_a_port_is_told_by_that_port_of_the_services_host() -> None:
    local = replace(ADDRESSES, base_url="http://localhost:8080")

    assert local.of_connection(replace(CONNECTION, port=18000)) == "http://localhost:18000"


def test_an_ipv6_host_keeps_its_brackets() -> None:
    local = replace(ADDRESSES, base_url="http://[fd00::1]:8080")

    assert local.of_connection(replace(CONNECTION, port=18000)) == "http://[fd00::1]:18000"


def test_a_printers_page_is_on_the_service_itself() -> None:
    assert ADDRESSES.of_printer_page("p1") == "https://reach.example/printers/p1"


def test_the_link_that_opens_a_printer_is_on_its_own_host() -> None:
    link = ADDRESSES.of_open_ticket(CONNECTION, "abc")

    assert link == ("https://app-abc.tunnel.example:8443/service-command-api/open?ticket=abc")


@pytest.mark.parametrize("address", ["https://reach.example", "https://reach.example:443"])
def test_browsers_may_be_told_to_use_https_alone(address: str) -> None:
    assert may_require_https(address)


@pytest.mark.parametrize(
    "address", ["http://reach.example", "http://reach.example:443", "https://home.example:8443"]
)
def test_browsers_are_not_told_so_where_the_host_may_serve_others_by_http(address: str) -> None:
    assert not may_require_https(address)


OURS = "https://printreach.example/signin"


@pytest.mark.parametrize(
    "path", ["/", "/link?code=K7QF4MXY", "/a/b%20c?d=e&f=%2F#g", "/appportal/v1?returnUrl=x%3A%2F"]
)
def test_a_page_of_ours_is_kept_as_it_is(path: str) -> None:
    assert parse_own_path(path) == path


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "link", "https://evil.example/", "//evil.example", "/\\evil.example"),
        *("\\\\evil.example", "/\t/evil.example", "/ /evil", "/\n", "/\r\nX: y", "javascript:x"),
        *("/\x00", "/ä", "/" + "a" * 3000),
    ],
)
def test_everything_else_leads_home(text: str | None) -> None:
    assert parse_own_path(text) == "/"


@given(st.text(alphabet="/\\.:@?#%a \t\n\r\u3002\uff0f", max_size=12))
def test_nothing_that_is_let_through_leads_to_another_host(text: str) -> None:
    led_to = urlsplit(urljoin(OURS, parse_own_path(text)))

    assert (led_to.scheme, led_to.netloc) == ("https", "printreach.example")


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/printers?said=removed", "/printers"),
        ("/printers?%73aid=removed&q=a%20b", "/printers?q=a%20b"),
        ("/printers?q=a+b&sai%64=stop&said=x#top", "/printers?q=a+b#top"),
        ("/printers?said", "/printers"),
        ("/printers?unsaid=1&q=said", "/printers?unsaid=1&q=said"),
    ],
)
def test_a_path_that_somebody_else_gives_names_no_flash_message(path: str, kept: str) -> None:
    assert parse_own_path(path) == kept


def test_the_way_to_the_sign_in_remembers_where_it_began() -> None:
    assert sign_in_path("/link?code=A&b=c") == "/signin?next=/link%3Fcode%3DA%26b%3Dc"
    assert code_path("//evil.example") == "/signin/code"
