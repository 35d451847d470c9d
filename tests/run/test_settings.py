"""Every setting of the service: its default, its meaning, and the sentence when it is wrong."""

from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path

import pytest

from printreach.rules.accounts import SignUpPolicy, SupporterPolicy
from printreach.rules.prints.snapshots import S3Bucket
from printreach.rules.public_addresses import PRIVATE_NETWORKS
from printreach.run.settings import Settings, SettingsError, settings_from
from printreach.store.location import PostgresqlLocation


def read(**given: str) -> Settings:
    return settings_from({f"PRINTREACH_{name}": value for name, value in given.items()})


def sentence(environ: Mapping[str, str]) -> str:
    with pytest.raises(SettingsError) as refused:
        settings_from(environ)
    return str(refused.value)


def test_without_any_setting_the_service_is_at_home_on_localhost() -> None:
    assert settings_from({}) == Settings(
        data_dir=Path("printreach-data"),
        listen_host="127.0.0.1",
        listen_port=8080,
        base_url="http://localhost:8080",
        tunnel_domain="localhost:8080",
        tunnel_ports=range(0),
        trusted_proxies=(),
        sign_up=SignUpPolicy.OPEN,
        supporters=SupporterPolicy.EVERYONE,
        webhook_allow_private=(),
        detector_url="http://localhost:8080",
        detector_free_calls=5000,
        detector_ip_claims=True,
        smtp_url=None,
    )


def test_every_setting_can_be_given() -> None:
    settings = read(
        DATA_DIR="/srv/printreach",
        LISTEN="[::]:443",
        BASE_URL="https://Reach.Example/",
        TUNNEL_DOMAIN="Tunnel.Example:8443",
        TUNNEL_PORTS="18000-18099",
        TRUSTED_PROXIES="127.0.0.1, 10.0.0.0/8",
        SUPPORTERS="granted",
        SIGN_UP="invited",
        WEBHOOK_ALLOW_PRIVATE="true",
        DETECTOR_URL="https://detector.example",
        DETECTOR_FREE_CALLS="0",
        DETECTOR_IP_CLAIMS="false",
        DETECTOR_WATCH="false",
        SMTP_URL="smtp://user:secret@mail.example:587",
    )

    assert settings == Settings(
        data_dir=Path("/srv/printreach"),
        listen_host="::",
        listen_port=443,
        base_url="https://reach.example",
        tunnel_domain="tunnel.example:8443",
        tunnel_ports=range(18000, 18100),
        trusted_proxies=(ip_network("127.0.0.1/32"), ip_network("10.0.0.0/8")),
        sign_up=SignUpPolicy.INVITED,
        supporters=SupporterPolicy.GRANTED,
        webhook_allow_private=PRIVATE_NETWORKS,
        detector_url="https://detector.example",
        detector_free_calls=0,
        detector_ip_claims=False,
        detector_watch=False,
        smtp_url="smtp://user:secret@mail.example:587",
    )


def test_an_empty_setting_counts_as_not_given() -> None:
    assert read(LISTEN="", TUNNEL_PORTS=" ", SMTP_URL="", NATS_URL="") == settings_from({})


def test_the_detector_is_at_the_base_url_unless_told_otherwise() -> None:
    assert read(BASE_URL="https://reach.example").detector_url == "https://reach.example"


def test_nodes_need_the_token_that_they_share() -> None:
    said = sentence({"PRINTREACH_DETECTOR_NODES": "http://10.0.0.7:8081"})

    assert "PRINTREACH_DETECTOR_TOKEN" in said


def test_nodes_are_named_one_behind_another_and_each_counts_once() -> None:
    settings = read(
        DETECTOR_NODES="http://10.0.0.7:8081,https://Node.Example/  http://10.0.0.7:8081",
        DETECTOR_TOKEN="0123456789abcdef01234567",
        DETECTOR_LISTEN="0.0.0.0:8081",
    )

    assert settings.detector_nodes == ("http://10.0.0.7:8081", "https://node.example")
    assert settings.detector_listen == ("0.0.0.0", 8081)
    assert "0123456789abcdef01234567" not in repr(settings)


def test_any_free_port_may_be_asked_for() -> None:
    assert read(LISTEN="127.0.0.1:0").listen_port == 0


def test_one_port_alone_is_a_range() -> None:
    assert read(TUNNEL_PORTS="18000-18000").tunnel_ports == range(18000, 18001)


def test_a_port_that_the_service_listens_on_cannot_be_a_connections() -> None:
    with pytest.raises(SettingsError, match=r"TUNNEL_PORTS holds 8080.*LISTEN"):
        read(TUNNEL_PORTS="8000-8099")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LISTEN", "8080"),
        ("LISTEN", ":8080"),
        ("LISTEN", "127.0.0.1:"),
        ("LISTEN", "127.0.0.1:65536"),
        ("LISTEN", "127.0.0.1:http"),
        ("LISTEN", "::1:8080"),
        ("LISTEN", "[127.0.0.1]:8080"),
        ("LISTEN", "http://127.0.0.1:8080"),
        ("BASE_URL", "reach.example"),
        ("BASE_URL", "ftp://reach.example"),
        ("BASE_URL", "https://"),
        ("BASE_URL", "https://reach.example/sub"),
        ("BASE_URL", "https://reach.example?a=1"),
        ("BASE_URL", "https://user@reach.example"),
        ("BASE_URL", "https://reach.example:99999"),
        ("BASE_URL", "https://reach example"),
        ("TUNNEL_DOMAIN", "https://tunnel.example"),
        ("TUNNEL_DOMAIN", "*.tunnel.example"),
        ("TUNNEL_DOMAIN", "tunnel.example:0"),
        ("TUNNEL_DOMAIN", "127.0.0.1"),
        ("TUNNEL_DOMAIN", "tunnel..example"),
        ("TUNNEL_DOMAIN", ".".join(["x" * 60] * 4)),
        ("TUNNEL_PORTS", "18000"),
        ("TUNNEL_PORTS", "18099-18000"),
        ("TUNNEL_PORTS", "0-10"),
        ("TUNNEL_PORTS", "18000-70000"),
        ("TRUSTED_PROXIES", "proxy.example"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("SUPPORTERS", "nobody"),
        ("SIGN_UP", "some"),
        ("WEBHOOK_ALLOW_PRIVATE", "maybe"),
        ("WEBHOOK_ALLOW_PRIVATE", "10.0.0.1/8"),
        ("DETECTOR_URL", "detector"),
        ("DETECTOR_FREE_CALLS", "-1"),
        ("DETECTOR_FREE_CALLS", "many"),
        ("DETECTOR_IP_CLAIMS", "2"),
        ("DETECTOR_WATCH", "sometimes"),
        ("DETECTOR_NODES", "10.0.0.7:8081"),
        ("DETECTOR_NODES", "http://10.0.0.7:8081 http://10.0.0.8/path"),
        ("DETECTOR_LISTEN", "8081"),
        ("DETECTOR_TOKEN", "short"),
        ("DETECTOR_TOKEN", "with a blank and more than 24"),
        ("SMTP_URL", "mail.example"),
        ("SMTP_URL", "smtp://"),
        ("SMTP_URL", "smtp://mail.example:port"),
        ("SNAPSHOTS_URL", "s3.example.com/bucket"),
        ("SNAPSHOTS_URL", "https://s3.example.com/bucket"),
        ("SNAPSHOTS_URL", "https://key:secret@s3.example.com"),
        ("SNAPSHOTS_URL", "https://key:secret@s3.example.com/b/../c"),
        ("SNAPSHOTS_URL", "ftp://key:secret@s3.example.com/bucket"),
        ("DATABASE_URL", "sqlite:///x"),
        ("DATABASE_URL", "postgresql+asyncpg://user:password@host/name"),
        ("DATABASE_URL", "postgresql://host"),
        ("DATABASE_URL", "postgresql://host:port/name"),
    ],
)
def test_a_wrong_value_is_refused_in_a_sentence_that_names_the_setting(
    name: str, value: str
) -> None:
    said = sentence({f"PRINTREACH_{name}": value})

    assert said.startswith(f"PRINTREACH_{name} ")
    assert said.endswith(".")


def test_an_unknown_setting_is_refused_with_those_that_are_known() -> None:
    said = sentence({"PRINTREACH_LISTEM": "127.0.0.1:8080"})

    assert said.startswith("PRINTREACH_LISTEM is no setting")
    assert "PRINTREACH_LISTEN" in said


def test_settings_of_other_programs_of_the_agent_and_of_the_tests_are_passed_over() -> None:
    others = {
        "PATH": "/bin",
        "PRINTREACH_PRINTER_API_KEY": "k",
        "PRINTREACH_TEST_REQUIRE_ALL": "1",
    }

    assert settings_from(others) == settings_from({})


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_a_database_on_a_server_takes_the_place_of_the_file(scheme: str) -> None:
    settings = read(DATABASE_URL=f"{scheme}://user:secret@host:5433/name?sslmode=require")

    assert isinstance(settings.database, PostgresqlLocation)
    assert settings.database.url.endswith("/name?sslmode=require")
    assert {5433} <= settings.reach.backend_ports
    assert "secret" not in repr(settings) + str(settings.database) + repr(settings.database)


def test_without_a_server_the_database_is_a_file_in_the_data_directory() -> None:
    assert read(DATA_DIR="/data").database == Path("/data/printreach.sqlite3")


def test_several_nats_servers_are_those_of_one_cluster() -> None:
    settings = read(NATS_URL="nats://user:secret@one:4222, tls://two")

    assert settings.nats_urls == ("nats://user:secret@one:4222", "tls://two")
    assert {4222} <= settings.reach.backend_ports
    assert "secret" not in repr(settings)


@pytest.mark.parametrize("value", ["http://host:4222", "nats://", "nats://host/path", "host:4222"])
def test_what_is_no_address_of_a_nats_server_is_refused(value: str) -> None:
    assert sentence({"PRINTREACH_NATS_URL": value}).startswith("PRINTREACH_NATS_URL ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SMTP_URL", "http://user:secret@mail.example"),
        ("SNAPSHOTS_URL", "ftp://key:secret@s3.example.com/bucket"),
        ("DATABASE_URL", "mysql://user:secret@host/name"),
        ("NATS_URL", "http://user:secret@host"),
    ],
)
def test_a_sentence_about_a_setting_never_repeats_its_password(name: str, value: str) -> None:
    assert "secret" not in sentence({f"PRINTREACH_{name}": value})


def test_a_bucket_is_read_off_its_address() -> None:
    address = "https://key:s%2Fecret@s3.example.com:9000/bucket/some/folder?region=eu-central-1"
    settings = read(SNAPSHOTS_URL=address)

    assert settings.snapshots == S3Bucket(
        endpoint="https://s3.example.com:9000",
        bucket="bucket",
        prefix="some/folder/",
        region="eu-central-1",
        key_id="key",
        secret="s/ecret",
    )
    assert "ecret" not in repr(settings)


def test_settings_never_show_a_password_when_printed() -> None:
    assert "secret" not in repr(read(SMTP_URL="smtp://user:secret@mail.example"))


def test_a_broker_of_home_assistant_is_set_with_its_password_out_of_sight() -> None:
    settings = read(MQTT_URL="mqtts://u:secret@broker.example")

    assert settings.mqtt is not None
    assert (settings.mqtt.host, settings.mqtt.port) == ("broker.example", 8883)
    assert "secret" not in repr(settings)


def test_a_brokers_wrong_address_is_told_without_its_password() -> None:
    said = sentence({"PRINTREACH_MQTT_URL": "http://u:secret@broker.example"})

    assert said.startswith("PRINTREACH_MQTT_URL")
    assert "secret" not in said


def test_an_operator_says_how_many_messages_a_day_an_account_gets() -> None:
    assert read().notify_daily_limit == 200
    assert read(NOTIFY_DAILY_LIMIT="0").notify_daily_limit == 0
    assert "NOTIFY_DAILY_LIMIT" in sentence({"PRINTREACH_NOTIFY_DAILY_LIMIT": "-1"})


@pytest.mark.parametrize(
    ("text", "networks"),
    [
        ("off", ()),
        ("127.0.0.0/8, 10.1.0.0/16", (ip_network("127.0.0.0/8"), ip_network("10.1.0.0/16"))),
        ("fd00::/8 192.168.1.4", (ip_network("fd00::/8"), ip_network("192.168.1.4/32"))),
    ],
)
def test_private_targets_may_be_allowed_network_by_network(
    text: str, networks: tuple[object, ...]
) -> None:
    assert read(WEBHOOK_ALLOW_PRIVATE=text).webhook_allow_private == networks


def test_webhooks_lead_to_no_port_of_the_service_or_of_what_it_relies_on() -> None:
    reach = read(
        LISTEN="0.0.0.0:9000",
        TUNNEL_PORTS="18000-18001",
        WEBHOOK_ALLOW_PRIVATE="true",
        SMTP_URL="smtp://localhost",
        MQTT_URL="mqtt://broker",
        DETECTOR_LISTEN="127.0.0.1:9100",
        DETECTOR_NODES="http://10.0.0.7:9200,https://node.example",
        DETECTOR_TOKEN="t" * 32,
    ).reach

    assert reach.own_ports == {9000, 18000, 18001, 9100}
    assert reach.backend_ports == {587, 1883, 9200}
