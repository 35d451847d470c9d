"""A service other than the linked one gets nothing out of the agent."""

import base64
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from printreach.agent.keys import ServicePin
from printreach.agent.signin import ServiceRefused
from printreach.contract import signin
from printreach.rules.printers.signin import Signer
from tests.agent.contexts import NOON_UNIX_S, Agent, ServiceKey
from tests.agent.talks import NONCE, OFFER, Talk, pin


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


@pytest.fixture
def key() -> ServiceKey:
    return ServiceKey()


def test_an_impostor_with_a_key_of_its_own_gets_no_proof(agent: Agent, key: ServiceKey) -> None:
    pin(agent, key)
    talk = Talk(agent)
    with pytest.raises(ServiceRefused, match="shows another key than the service"):
        talk.says(talk.challenge(ServiceKey()))

    assert talk.proofs == []
    assert agent.pinned_keys == (key.public,)


def test_either_of_two_pinned_keys_is_believed(agent: Agent, key: ServiceKey) -> None:
    pin(agent, ServiceKey(), key)
    talk = Talk(agent)
    talk.says(talk.challenge(key), talk.welcome())

    assert talk.handshake.is_serving


def test_the_pin_of_another_service_says_nothing_about_this_one(
    agent: Agent, key: ServiceKey
) -> None:
    agent.context.pins.put("https://other.example", ServicePin(public_keys=(ServiceKey().public,)))
    talk = Talk(agent)
    talk.says(talk.challenge(key), talk.welcome())

    assert talk.handshake.is_serving


def bad_signature(talk: Talk, key: ServiceKey) -> bytes:
    return os.urandom(64)


def someone_elses(talk: Talk, key: ServiceKey) -> bytes:
    return ServiceKey().sign(talk.statement_of(Signer.SERVICE, key.public))


def of_the_other_side(talk: Talk, key: ServiceKey) -> bytes:
    return key.sign(talk.statement_of(Signer.AGENT, key.public))


def for_another_host(talk: Talk, key: ServiceKey) -> bytes:
    return key.sign(talk.statement_of(Signer.SERVICE, key.public, host="other.example"))


def cut_short(talk: Talk, key: ServiceKey) -> bytes:
    return key.sign(talk.statement_of(Signer.SERVICE, key.public))[:-1]


def empty(talk: Talk, key: ServiceKey) -> bytes:
    return b""


@pytest.mark.parametrize(
    "signature",
    [bad_signature, someone_elses, of_the_other_side, for_another_host, cut_short, empty],
)
@pytest.mark.parametrize("is_pinned", [True, False])
def test_the_right_key_with_a_wrong_signature_gets_no_proof(
    agent: Agent,
    key: ServiceKey,
    signature: Callable[[Talk, ServiceKey], bytes],
    is_pinned: bool,
) -> None:
    if is_pinned:
        pin(agent, key)
    talk = Talk(agent)
    challenge = signin.Challenge(
        service_key=key.public,
        nonce=NONCE,
        signature=signature(talk, key),
        time_unix_sec=int(NOON_UNIX_S),
    )
    with pytest.raises(ServiceRefused, match="can't sign with the key it shows"):
        talk.says(challenge)
    with pytest.raises(ServiceRefused):
        talk.says(talk.welcome())

    assert talk.proofs == []


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_key_of_another_length_is_no_key(agent: Agent, length: int) -> None:
    talk = Talk(agent)
    challenge = signin.Challenge(
        service_key=b"k" * length, nonce=NONCE, signature=b"s" * 64, time_unix_sec=0
    )
    with pytest.raises(ServiceRefused, match="can't sign"):
        talk.says(challenge)


def test_a_challenge_of_another_sign_in_is_worth_nothing(agent: Agent, key: ServiceKey) -> None:
    recorded = Talk(agent)
    challenge = recorded.challenge(key)
    with pytest.raises(ServiceRefused, match="can't sign"):
        Talk(agent).says(challenge)


@pytest.mark.parametrize("word", ["welcome", "linked", "offer"])
def test_nothing_is_believed_before_the_service_has_proved_itself(agent: Agent, word: str) -> None:
    talk = Talk(agent)
    words: dict[str, signin.FromService] = {
        "welcome": talk.welcome(),
        "linked": talk.linked(),
        "offer": OFFER,
    }

    with pytest.raises(ServiceRefused, match="did not prove who it is"):
        talk.says(words[word])

    assert not talk.handshake.is_serving
    assert agent.announced.lines == []
    assert agent.pinned_keys == ()


def test_a_second_challenge_gets_no_second_proof(agent: Agent, key: ServiceKey) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key))
    with pytest.raises(ServiceRefused, match="second signature"):
        talk.says(talk.challenge(ServiceKey()))

    assert len(talk.proofs) == 1


def test_an_impostor_cannot_have_the_pin_dropped(agent: Agent, key: ServiceKey) -> None:
    pin(agent, key)
    talk = Talk(agent)
    with pytest.raises(ServiceRefused):
        talk.says(talk.challenge(ServiceKey()))
    with pytest.raises(ServiceRefused):
        talk.says(OFFER)

    assert agent.pinned_keys == (key.public,)


def test_no_secret_is_said(agent: Agent, key: ServiceKey) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key), talk.welcome())
    secret = (agent.data_dir / "agent.key").read_bytes().split()[-1]

    for said in talk.messages:
        assert secret not in signin.encode(said)
        assert base64.b64decode(secret) not in signin.encode(said)
