"""Secrets, their digests, and reading them from what a request carries."""

import base64
import re
import secrets
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.connections import ConnectionKind
from printreach.rules.connections.credentials import (
    LINK_CODE_ALPHABET,
    CredentialKind,
    digest,
    digest_of_authorization,
    digest_of_service_api_key,
    new_app_secrets,
    new_link_code,
    new_secret,
    new_unique_id,
    parse_link_code,
    printer_id_of,
)

BASIC = digest(CredentialKind.BASIC, b"ada:secret")
BEARER = digest(CredentialKind.BEARER, b"token-1")


def test_the_same_secret_has_another_digest_for_each_kind() -> None:
    assert len({digest(kind, b"same") for kind in CredentialKind}) == len(CredentialKind)


def test_digests_never_change_for_they_are_stored() -> None:
    stored = "51277b46c8c3a648a5661bff5df4fd0741edf8d0bff36ee3bf549e1b27ddbdc0"

    assert digest(CredentialKind.BEARER, b"token-1").hex() == stored


@pytest.mark.parametrize(
    "value",
    [
        b"Basic YWRhOnNlY3JldA==",
        b"basic YWRhOnNlY3JldA==",
        b"BASIC   YWRhOnNlY3JldA==",
        b"Basic YWRhOnNlY3JldA",
    ],
)
def test_a_basic_header_is_read_whatever_its_case_blanks_and_padding(value: bytes) -> None:
    assert digest_of_authorization(value) == BASIC


@pytest.mark.parametrize("value", [b"Bearer token-1", b"bearer token-1", b"  BEARER  token-1 "])
def test_a_bearer_header_is_read_whatever_its_case_and_blanks(value: bytes) -> None:
    assert digest_of_authorization(value) == BEARER


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"Basic",
        b"Bearer",
        b"Bearer ",
        b"Basic !!!!",
        b"Basic YWRhOnNlY3JldA==!",
        b"Basic YWRh",
        b"Digest username=ada",
        b"YWRhOnNlY3JldA==",
        b"Basic \xff\xfe",
    ],
)
def test_a_header_without_readable_credentials_has_no_digest(value: bytes) -> None:
    assert digest_of_authorization(value) is None


@given(st.binary(max_size=80))
def test_no_header_value_makes_reading_it_fail(value: bytes) -> None:
    digest_of_authorization(value)
    digest_of_authorization(b"Basic " + value)
    digest_of_service_api_key(value)


def test_a_service_api_key_may_be_a_bearer_token_or_an_encoded_pair() -> None:
    assert BEARER in digest_of_service_api_key(b"token-1")
    assert BASIC in digest_of_service_api_key(b"YWRhOnNlY3JldA==")


def test_a_bearer_token_never_passes_as_the_text_of_a_basic_pair() -> None:
    assert digest_of_service_api_key(b"ada:secret") == [
        digest(CredentialKind.BEARER, b"ada:secret")
    ]


@pytest.mark.parametrize("kind", ConnectionKind)
def test_a_unique_id_is_a_dns_label_with_at_least_128_random_bits(kind: ConnectionKind) -> None:
    asked: list[int] = []

    def token_bytes(count: int) -> bytes:
        asked.append(count)
        return secrets.token_bytes(count)

    unique_id = new_unique_id(kind, token_bytes)

    assert re.fullmatch(rf"{kind.value}-[a-z2-7]{{26,}}", unique_id)
    assert len(unique_id) <= 63
    assert sum(asked) * 8 >= 128


def test_every_unique_id_is_another_one() -> None:
    made = {new_unique_id(ConnectionKind.APP, secrets.token_bytes) for _ in range(100)}

    assert len(made) == 100


def test_an_apps_secrets_are_all_different_and_need_no_quoting_anywhere() -> None:
    made = new_app_secrets(secrets.token_bytes)
    parts = [made.basic_user, made.basic_password, made.bearer_token, made.app_api_token]

    assert len(set(parts)) == 4
    assert all(re.fullmatch(r"[a-z2-7]{16,}", part) for part in parts)


def test_an_encoded_pair_of_ours_has_no_character_that_a_query_changes() -> None:
    pair = f"{new_secret(secrets.token_bytes)}:{new_secret(secrets.token_bytes)}"

    assert not set(base64.b64encode(pair.encode())) & set(b"+/&%?#")


def test_a_link_code_has_no_look_alikes() -> None:
    for pair in ("0O", "1IL", "2Z", "5S", "8B", "UV"):
        assert len(set(pair) & set(LINK_CODE_ALPHABET)) <= 1


def test_a_link_code_has_eight_characters() -> None:
    code = new_link_code(secrets.token_bytes)

    assert re.fullmatch(f"[{LINK_CODE_ALPHABET}]{{8}}", code)


def test_bytes_that_would_favour_the_first_letters_are_thrown_away() -> None:
    blocks: Iterator[bytes] = iter([b"\xff" * 8, bytes(range(232, 240))])

    assert new_link_code(lambda _: next(blocks)) == LINK_CODE_ALPHABET[-8:]


@pytest.mark.parametrize("typed", ["ACDEFGHJ", "acde-fghj", " ACDE FGHJ\n", "acdefghj"])
def test_a_link_code_is_read_as_people_type_it(typed: str) -> None:
    assert parse_link_code(typed) == "ACDEFGHJ"


@pytest.mark.parametrize("typed", ["", "ACDEFGH", "ACDEFGHJK", "ACDEFGH0", "ÄCDEFGHJ"])
def test_what_cannot_be_a_link_code_is_not_looked_up(typed: str) -> None:
    assert parse_link_code(typed) is None


def test_a_printer_id_follows_from_the_public_key_alone() -> None:
    assert printer_id_of(b"\x01" * 32) == printer_id_of(b"\x01" * 32)
    assert printer_id_of(b"\x01" * 32) != printer_id_of(b"\x02" * 32)
    assert re.fullmatch(r"[a-z2-7]{32}", printer_id_of(b"\x01" * 32))
