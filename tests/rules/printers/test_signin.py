"""Signatures at sign-in: each is valid for one handshake only."""

from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.printers.signin import Signer, is_ours, statement


class Parts(TypedDict):
    service_host: str
    service_key: bytes
    service_nonce: bytes
    agent_key: bytes
    agent_nonce: bytes


PARTS = Parts(
    service_host="print.example.org",
    service_key=b"S" * 32,
    service_nonce=b"s" * 32,
    agent_key=b"A" * 32,
    agent_nonce=b"a" * 32,
)

parts = st.builds(
    Parts,
    service_host=st.text("ab.:0", max_size=6),
    service_key=st.binary(max_size=4),
    service_nonce=st.binary(max_size=4),
    agent_key=st.binary(max_size=4),
    agent_nonce=st.binary(max_size=4),
)


def test_the_bytes_are_fixed() -> None:
    assert (
        statement(Signer.SERVICE, **PARTS)
        == (
            b"\x00\x15printreach sign-in v1"
            b"\x00\x07service"
            b"\x00\x11print.example.org"
            b"\x00\x20"
            + b"S" * 32
            + b"\x00\x20"
            + b"s" * 32
            + b"\x00\x20"
            + b"A" * 32
            + b"\x00\x20"
        )
        + b"a" * 32
    )


def test_what_the_service_signs_is_not_what_the_agent_signs() -> None:
    assert statement(Signer.SERVICE, **PARTS) != statement(Signer.AGENT, **PARTS)


@pytest.mark.parametrize(
    "other",
    [
        PARTS | {"service_host": "other.example.org"},
        PARTS | {"service_key": b"x" * 32},
        PARTS | {"service_nonce": b"x" * 32},
        PARTS | {"agent_key": b"x" * 32},
        PARTS | {"agent_nonce": b"x" * 32},
        PARTS | {"service_key": PARTS["agent_key"], "agent_key": PARTS["service_key"]},
    ],
)
def test_every_part_is_signed(other: Parts) -> None:
    assert statement(Signer.AGENT, **other) != statement(Signer.AGENT, **PARTS)


def test_the_host_is_the_same_in_capitals() -> None:
    shouted: Parts = PARTS | {"service_host": "PRINT.example.ORG"}

    assert statement(Signer.AGENT, **shouted) == statement(Signer.AGENT, **PARTS)


@given(parts, parts, st.sampled_from(Signer), st.sampled_from(Signer))
def test_no_two_sign_ins_make_the_same_statement(
    one: Parts, other: Parts, signer: Signer, other_signer: Signer
) -> None:
    same = statement(signer, **one) == statement(other_signer, **other)

    assert same == ((signer, one) == (other_signer, other))


@pytest.mark.parametrize(
    "dialled",
    [
        "print.example.org",
        "PRINT.example.org:443",
        "print.example.org.",
        "localhost:8080",
        "printreach:8080",
        "192.168.1.5:8080",
        "[fd00::1]:8080",
        "127.0.0.1",
        "server.local",
    ],
)
def test_an_agent_that_dialled_us_by_any_of_our_names_is_ours(dialled: str) -> None:
    assert is_ours(dialled, "print.example.org")


@pytest.mark.parametrize(
    "dialled",
    [
        "evil.example",
        "print.example.org.evil.example",
        "8.8.8.8",
        "[2001:4860::1]:443",
        "x.local.evil.io",
    ],
)
def test_an_agent_that_dialled_another_service_is_not_ours(dialled: str) -> None:
    assert not is_ours(dialled, "print.example.org")
