"""A service whose links would lead elsewhere says so when it starts, and what to set."""

import logging
from collections.abc import Coroutine

import pytest

from printreach.run import serve
from printreach.run.main import main
from printreach.run.settings import address_warnings, settings_from


def warnings(**given: str) -> list[str]:
    environ = {f"PRINTREACH_{name}": text for name, text in given.items()}
    return list(address_warnings(settings_from(environ), environ))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"LISTEN": "127.0.0.1:0"},
        {"LISTEN": "127.0.0.1:0", "BASE_URL": "http://localhost:18080"},
        {
            "LISTEN": "127.0.0.1:18080",
            "BASE_URL": "http://localhost:18080",
            "TUNNEL_DOMAIN": "localhost:18080",
        },
        {"BASE_URL": "https://printreach.example", "TUNNEL_DOMAIN": "printers.example"},
        {"BASE_URL": "http://raspberrypi.local:8080", "TUNNEL_PORTS": "18000-18009"},
    ],
)
def test_addresses_that_fit_need_no_word(given: dict[str, str]) -> None:
    assert warnings(**given) == []


def test_a_port_in_the_base_url_alone_leaves_links_to_printers_at_the_usual_one() -> None:
    (said,) = warnings(LISTEN="127.0.0.1:18080", BASE_URL="http://localhost:18080")

    assert "links to printers and shares lead to localhost:8080" in said
    assert "Set PRINTREACH_TUNNEL_DOMAIN=localhost:18080." in said


def test_a_port_to_listen_on_alone_leaves_every_link_at_the_usual_one() -> None:
    pages, printers = warnings(LISTEN="127.0.0.1:18080")

    assert "Set PRINTREACH_BASE_URL=http://localhost:18080, or to the address" in pages
    assert "Set PRINTREACH_TUNNEL_DOMAIN=localhost:18080." in printers


def test_a_name_without_a_domain_for_printers_is_told_of_both_ways() -> None:
    (said,) = warnings(BASE_URL="https://printreach.example")

    assert "but the service is at printreach.example:443" in said
    assert "subdomains" in said
    assert "PRINTREACH_TUNNEL_PORTS" in said


def test_the_log_says_it_at_each_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def end_at_once(serving: Coroutine[None, None, None]) -> None:
        serving.close()

    monkeypatch.setattr("uvloop.run", end_at_once)
    monkeypatch.setattr(serve, "_log_to_stderr", lambda *, verbose, as_json: None)
    monkeypatch.setattr(serve, "tune_memory_for_traffic", lambda: None)
    monkeypatch.setattr("os.umask", lambda mask: 0)
    monkeypatch.setenv("PRINTREACH_LISTEN", "127.0.0.1:18080")
    monkeypatch.setenv("PRINTREACH_BASE_URL", "http://localhost:18080")

    with caplog.at_level(logging.WARNING, logger=serve.__name__):
        assert main(["serve"]) == 0

    (record,) = caplog.records
    assert "Set PRINTREACH_TUNNEL_DOMAIN=localhost:18080." in record.getMessage()
