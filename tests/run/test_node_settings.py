"""The settings by which the nodes of a service reach each other."""

import pytest

from printreach.run.settings import Settings, SettingsError, settings_from


def read(**given: str) -> Settings:
    return settings_from({f"PRINTREACH_{name}": value for name, value in given.items()})


def test_a_node_listens_for_the_others_where_it_is_told() -> None:
    settings = read(NODE_LISTEN="10.0.0.5:8090", NODE_TLS="true")

    assert settings.node_listen == ("10.0.0.5", 8090)
    assert settings.node_tls
    assert 8090 in settings.reach.own_ports


def test_a_node_that_listens_everywhere_says_which_address_others_dial() -> None:
    with pytest.raises(SettingsError, match="PRINTREACH_NODE_URL"):
        read(NODE_LISTEN="0.0.0.0:8090")

    settings = read(NODE_LISTEN="0.0.0.0:8090", NODE_URL="wss://Node-1.internal:8090")
    assert settings.node_url == "wss://node-1.internal:8090"


@pytest.mark.parametrize("url", ["http://node:1", "ws://node", "ws://node:0", "ws://a:b@node:1"])
def test_what_is_no_address_of_a_node_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="PRINTREACH_NODE_URL"):
        read(NODE_URL=url)


@pytest.mark.parametrize("seconds", ["61", "-1", "1.5", "soon"])
def test_a_node_that_stops_gives_notice_for_a_minute_at_most(seconds: str) -> None:
    assert read().stop_notice_s == 0
    assert read(STOP_NOTICE="4").stop_notice_s == 4
    with pytest.raises(SettingsError, match="PRINTREACH_STOP_NOTICE"):
        read(STOP_NOTICE=seconds)


def test_the_log_is_json_where_that_was_chosen() -> None:
    assert not read().logs_json
    assert read(LOG_JSON="true").logs_json


def test_proxies_name_requests_where_a_header_was_chosen() -> None:
    assert read().request_id_field == b""
    assert read(REQUEST_ID_HEADER="X-Request-Id").request_id_field == b"x-request-id"
    with pytest.raises(SettingsError, match="PRINTREACH_REQUEST_ID_HEADER"):
        read(REQUEST_ID_HEADER="X Request: Id")
