"""The agent's side of sign-in: whom it believes, what it shows, what it pins."""

from dataclasses import replace
from pathlib import Path

import pytest

from printreach.agent.keys import is_signed_by
from printreach.agent.runtime import LanPlace
from printreach.agent.signin import ServiceRefused
from printreach.agent.state import Phase
from printreach.contract import signin
from printreach.rules.printers.signin import Signer
from tests.agent.contexts import NOON_UNIX_S, SERVICE, Agent, ServiceKey
from tests.agent.talks import OFFER, Talk, pin


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


@pytest.fixture
def key() -> ServiceKey:
    return ServiceKey()


def test_the_agent_begins_with_who_it_is(agent: Agent) -> None:
    hello = Talk(agent).hello

    assert hello.public_key == agent.context.key.public_key
    assert hello.service_host == "print.example.org:8080"
    assert hello.platform == "octoprint"
    assert hello.lan_ip == "192.168.1.7"
    assert hello.lan_port == 8766
    assert len(hello.nonce) == 32


def test_no_two_sign_ins_have_the_same_nonce(agent: Agent) -> None:
    assert Talk(agent).hello.nonce != Talk(agent).hello.nonce


def test_the_agent_proves_itself_to_a_service_that_has(agent: Agent, key: ServiceKey) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key))

    (proof,) = talk.proofs
    signed = talk.statement_of(Signer.AGENT, key.public)
    assert is_signed_by(agent.context.key.public_key, signed, proof.signature)
    assert not talk.handshake.is_serving


def test_a_link_offer_is_shown_and_announced(agent: Agent, key: ServiceKey) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key), OFFER)

    shown = agent.context.state.snapshot.link_code
    assert shown is not None
    assert shown.code == "ACDEFG34"
    assert shown.expires_at == agent.clock.at + 600
    assert agent.context.state.snapshot.phase is Phase.UNLINKED
    assert agent.announced.lines == [
        {
            "event": "link-code",
            "LinkCode": "ACDEFG34",
            "LinkUrl": "http://print.example.org/link",
            "ExpiresInSec": 600,
        }
    ]
    assert not talk.handshake.is_serving


def test_a_new_link_offer_takes_the_place_of_an_old_one(agent: Agent, key: ServiceKey) -> None:
    talk = Talk(agent)
    newer = signin.LinkOffer(link_code="4GFEDCA3", link_url=OFFER.link_url, expires_in_sec=600)
    talk.says(talk.challenge(key), OFFER, newer)

    shown = agent.context.state.snapshot.link_code
    assert shown is not None
    assert shown.code == "4GFEDCA3"


def test_being_linked_pins_the_key_and_serves(agent: Agent, key: ServiceKey) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key), OFFER, talk.linked())

    assert agent.pinned_keys == (key.public,)
    assert talk.handshake.is_serving
    assert agent.context.state.snapshot.phase is Phase.CONNECTED
    assert agent.context.state.snapshot.printer_name == "Voron"
    assert agent.announced.events == ["link-code", "linked", "connected"]
    assert agent.announced.lines[1] == {
        "event": "linked",
        "PrinterId": agent.context.key.printer_id,
    }


def test_a_welcome_by_the_pinned_service_serves(agent: Agent, key: ServiceKey) -> None:
    pin(agent, key)
    talk = Talk(agent)
    talk.says(talk.challenge(key), talk.welcome())

    assert talk.handshake.is_serving
    assert agent.announced.events == ["linked", "connected"]
    assert agent.pinned_keys == (key.public,)


def test_linked_is_announced_once_a_run(agent: Agent, key: ServiceKey) -> None:
    pin(agent, key)
    talk = Talk(agent, was_linked=True)
    talk.says(talk.challenge(key), talk.welcome())

    assert agent.announced.events == ["connected"]


def test_linked_is_announced_again_when_a_code_was_shown_in_between(
    agent: Agent, key: ServiceKey
) -> None:
    first = Talk(agent, was_linked=True)
    first.says(first.challenge(key), OFFER)
    second = Talk(agent, was_linked=first.handshake.was_linked)
    second.says(second.challenge(key), second.welcome())

    assert agent.announced.events == ["link-code", "linked", "connected"]
    assert second.handshake.was_linked


def test_a_service_that_knows_an_agent_without_a_pin_is_pinned(
    agent: Agent, key: ServiceKey, caplog: pytest.LogCaptureFixture
) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key), talk.welcome())

    assert agent.pinned_keys == (key.public,)
    assert "its key is pinned from now on" in caplog.text


def test_a_new_name_of_the_printer_is_kept(agent: Agent, key: ServiceKey) -> None:
    pin(agent, key, name="Voron")
    talk = Talk(agent)
    talk.says(talk.challenge(key), talk.welcome("Garage"))

    kept = agent.context.pins.get(SERVICE)
    assert kept is not None
    assert kept.printer_name == "Garage"
    assert agent.context.state.snapshot.printer_name == "Garage"


def test_a_printer_that_was_removed_loses_its_pin_and_shows_a_code(
    agent: Agent, key: ServiceKey
) -> None:
    pin(agent, key)
    talk = Talk(agent, was_linked=True)
    talk.says(talk.challenge(key), OFFER)

    assert agent.pinned_keys == ()
    assert not agent.context.state.snapshot.is_linked
    assert agent.announced.events == ["link-code"]


@pytest.mark.parametrize(
    "offer",
    [
        signin.LinkOffer(link_code="acdefg34", link_url=OFFER.link_url, expires_in_sec=600),
        signin.LinkOffer(link_code="ACDEFG3", link_url=OFFER.link_url, expires_in_sec=600),
        signin.LinkOffer(link_code="\x1b[2J", link_url=OFFER.link_url, expires_in_sec=600),
        signin.LinkOffer(link_code="ACDEFG34", link_url="javascript:alert(1)", expires_in_sec=600),
        signin.LinkOffer(link_code="ACDEFG34", link_url="http://a b", expires_in_sec=600),
    ],
)
def test_a_link_code_that_is_none_of_ours_is_neither_shown_nor_costs_the_pin(
    agent: Agent, key: ServiceKey, offer: signin.LinkOffer
) -> None:
    pin(agent, key)
    talk = Talk(agent)
    talk.says(talk.challenge(key))
    with pytest.raises(ServiceRefused, match="no usable link code"):
        talk.says(offer)

    assert agent.context.state.snapshot.link_code is None
    assert agent.announced.lines == []
    assert agent.pinned_keys == (key.public,)


@pytest.mark.parametrize(
    ("service_is_ahead_s", "is_warned"), [(0, False), (59, False), (3600, True), (-3600, True)]
)
def test_a_clock_that_is_off_signs_in_all_the_same_and_is_reported(
    agent: Agent,
    key: ServiceKey,
    caplog: pytest.LogCaptureFixture,
    service_is_ahead_s: int,
    is_warned: bool,
) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key, time_unix_s=NOON_UNIX_S + service_is_ahead_s), talk.welcome())

    assert talk.handshake.is_serving
    assert agent.context.state.snapshot.clock_offset_s == service_is_ahead_s
    warned = f"clock is {-service_is_ahead_s} s off the service's" in caplog.text
    assert warned is is_warned


@pytest.mark.parametrize("payload", [b"", b"hello", b"{}", b'{"Type":"Unknown"}', b"\xff" * 100])
def test_what_cannot_be_read_is_refused_with_a_sentence(agent: Agent, payload: bytes) -> None:
    with pytest.raises(ServiceRefused, match="said something unreadable"):
        Talk(agent).handshake.on_message(payload)


def test_a_pin_that_cannot_be_kept_is_no_link(agent: Agent, key: ServiceKey) -> None:
    talk = Talk(agent)
    talk.says(talk.challenge(key), OFFER)
    agent.data_dir.rename(agent.data_dir.with_name("elsewhere"))
    with pytest.raises(ServiceRefused, match=r"service\.json in .* can't be written: No such"):
        talk.says(talk.linked())

    assert not talk.handshake.is_serving
    assert "linked" not in agent.announced.events


def test_another_address_on_the_local_network_is_told_once(agent: Agent, key: ServiceKey) -> None:
    pin(agent, key)
    addresses = iter(["192.168.1.7", "192.168.1.7", "192.168.1.9", "192.168.1.9"])
    context = replace(
        agent.context, find_lan_address=lambda: LanPlace(ip=next(addresses), port=8766)
    )
    agent.context = context
    talk = Talk(agent)
    talk.says(talk.challenge(key), talk.welcome())

    for _ in range(3):
        talk.handshake.look_for_lan_address()

    reported = [said for said in talk.messages if isinstance(said, signin.LanAddress)]
    assert reported == [signin.LanAddress(lan_ip="192.168.1.9", lan_port=8766)]
