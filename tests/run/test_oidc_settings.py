"""The settings of sign-in by OpenID Connect: all of them, or none."""

import pytest

from printreach.rules.accounts.oidc import OidcProvider
from printreach.run.settings import Settings, SettingsError, settings_from

GOOD = {
    "ISSUER": "https://id.example:8443/Realms/home/",
    "CLIENT_ID": "printreach",
    "CLIENT_SECRET": "hush hush",
    "NAME": "Workshop",
}


def read(**given: str) -> Settings:
    return settings_from({f"PRINTREACH_OIDC_{name}": text for name, text in given.items()})


def test_a_provider_is_read_to_the_letter() -> None:
    assert read(**GOOD).oidc == OidcProvider(
        issuer="https://id.example:8443/Realms/home/",
        client_id="printreach",
        client_secret="hush hush",
        name="Workshop",
    )


def test_without_a_name_a_provider_is_called_by_its_host() -> None:
    oidc = read(**GOOD | {"NAME": ""}).oidc

    assert oidc is not None
    assert oidc.name == "id.example"


def test_there_is_none_by_default() -> None:
    assert settings_from({}).oidc is None


@pytest.mark.parametrize("missing", ["ISSUER", "CLIENT_ID", "CLIENT_SECRET"])
def test_a_part_that_is_missing_is_named(missing: str) -> None:
    with pytest.raises(SettingsError, match=rf"also needs PRINTREACH_OIDC_{missing}\."):
        read(**GOOD | {missing: ""})


def test_a_name_alone_is_no_provider() -> None:
    with pytest.raises(SettingsError, match=r"ISSUER and .*CLIENT_ID and .*CLIENT_SECRET"):
        read(NAME="Workshop")


@pytest.mark.parametrize(
    "issuer", ["http://localhost:9400", "http://127.0.0.1:9400/x", "http://[::1]:9400"]
)
def test_a_provider_on_this_machine_may_do_without_tls(issuer: str) -> None:
    oidc = read(**GOOD | {"ISSUER": issuer}).oidc

    assert oidc is not None
    assert oidc.issuer == issuer


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ISSUER", "id.example"),
        ("ISSUER", "ftp://id.example"),
        ("ISSUER", "http://id.example"),
        ("ISSUER", "http://127.0.0.1.evil.example"),
        ("ISSUER", "https://"),
        ("ISSUER", "https://user@id.example"),
        ("ISSUER", "https://id.example?tenant=a"),
        ("ISSUER", "https://id.example#a"),
        ("ISSUER", "https://id.example/a b"),
        ("ISSUER", "https://id.example:99999"),
        ("ISSUER", "https://id.example/" + "x" * 512),
        ("CLIENT_SECRET", "ä"),
        ("CLIENT_ID", "a\nb"),
        ("NAME", "a\tb"),
        ("NAME", "x" * 41),
    ],
)
def test_a_wrong_part_stops_the_start_with_a_sentence(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"^PRINTREACH_OIDC_{name} .*\.$"):
        read(**GOOD | {name: value})


def test_no_message_and_no_print_repeats_the_secret() -> None:
    assert "hush" not in repr(read(**GOOD))
    with pytest.raises(SettingsError) as wrong:
        read(**GOOD | {"CLIENT_SECRET": "hush\x00hush"})
    assert "hush" not in str(wrong.value)
