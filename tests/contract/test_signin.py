"""The messages of agent and service during a sign-in, as bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from printreach.contract import signin
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import DetectorStatus
from tests.wire.page import JSON_EXAMPLES

FROM_AGENT = [
    (
        signin.Hello(
            public_key=b"\x01\x02\x03",
            nonce=b"\xff\xfe",
            service_host="print.example.org:8443",
            agent_version="1.2.3",
            platform="octoprint",
            lan_ip="192.168.1.7",
        ),
        b'{"Type":"Hello","PublicKey":"AQID","Nonce":"//4=","ServiceHost":"print.example.org:8443",'
        b'"AgentVersion":"1.2.3","Platform":"octoprint","LanIp":"192.168.1.7"}',
    ),
    (
        signin.Hello(
            public_key=b"\x01",
            nonce=b"\x02",
            service_host="print.example.org",
            agent_version="1.2.3",
            platform="octoprint",
            lan_ip="192.168.1.7",
            lan_port=8766,
        ),
        b'{"Type":"Hello","PublicKey":"AQ==","Nonce":"Ag==","ServiceHost":"print.example.org",'
        b'"AgentVersion":"1.2.3","Platform":"octoprint","LanIp":"192.168.1.7","LanPort":8766}',
    ),
    (
        signin.Hello(
            public_key=b"A" * 32,
            nonce=b"NB" * 16,
            service_host="print.example.org",
            agent_version="0.1.0",
            platform="duet",
            lan_ip="192.168.1.7",
            lan_port=8765,
            agent_run="d5be7dd09b0a4a1c8c1bd5c1b1f9a3e0",
            is_standby=True,
        ),
        JSON_EXAMPLES["standby"].strip().encode(),
    ),
    (signin.Primary(), b'{"Type":"Primary"}'),
    (signin.Proof(signature=b"\x00"), b'{"Type":"Proof","Signature":"AA=="}'),
    (signin.LanAddress(lan_ip="10.0.0.9"), b'{"Type":"LanAddress","LanIp":"10.0.0.9"}'),
    (
        signin.LanAddress(lan_ip="10.0.0.9", lan_port=0),
        b'{"Type":"LanAddress","LanIp":"10.0.0.9","LanPort":0}',
    ),
    (
        signin.HostApiKey(request_id="7", api_key="wYpcWxEJ0Ff2Vvdu4Hde"),
        JSON_EXAMPLES["made"].strip().encode(),
    ),
    (
        signin.HostApiKey(request_id="7", error="Not today."),
        b'{"Type":"HostApiKey","RequestId":"7","Error":"Not today."}',
    ),
    (
        signin.Events(
            events=[
                PrintEvent(
                    event_id="mfrggzdfmztwq2lk",
                    event_type=EventType.PAUSED,
                    event_time_sec=1_800_000_000,
                    print_id="nbswy3dpeb3w64tm",
                    file_name="vase.gcode",
                    duration_sec=754,
                    progress=41,
                    time_remaining_sec=1080,
                    current_layer=25,
                    total_layers=60,
                    print_started_at_sec=1_799_999_246,
                )
            ]
        ),
        JSON_EXAMPLES["happened"].strip().encode(),
    ),
]
FROM_SERVICE = [
    (
        signin.Challenge(
            service_key=b"\x01", nonce=b"\x02", signature=b"\x03", time_unix_sec=1_700_000_000
        ),
        b'{"Type":"Challenge","ServiceKey":"AQ==","Nonce":"Ag==","Signature":"Aw==",'
        b'"TimeUnixSec":1700000000}',
    ),
    (
        signin.Welcome(printer_id="abc", printer_name="Voron"),
        b'{"Type":"Welcome","PrinterId":"abc","PrinterName":"Voron"}',
    ),
    (
        signin.LinkOffer(
            link_code="ACDEFG34", link_url="https://x.example/link", expires_in_sec=600
        ),
        b'{"Type":"LinkOffer","LinkCode":"ACDEFG34","LinkUrl":"https://x.example/link",'
        b'"ExpiresInSec":600}',
    ),
    (
        signin.Linked(printer_id="abc", printer_name="Voron"),
        b'{"Type":"Linked","PrinterId":"abc","PrinterName":"Voron"}',
    ),
    (
        signin.Detector(
            print_id="mfrggzdfmztwq2lk",
            status=DetectorStatus(
                last_score=0.25,
                score_history=[0.125, 0.25],
                time_since_last_score_sec=1.5,
                interval_sec=20.0,
                time_since_last_warn_sec=300.0,
            ),
        ),
        JSON_EXAMPLES["detector"].strip().encode(),
    ),
    (
        signin.MakeHostApiKey(request_id="7", app_name="Pocket Prints"),
        JSON_EXAMPLES["make"].strip().encode(),
    ),
    (
        signin.EventsStored(event_ids=["mfrggzdfmztwq2lk"]),
        JSON_EXAMPLES["stored"].strip().encode(),
    ),
]
CHALLENGE, LINK_OFFER = FROM_SERVICE[0][1], FROM_SERVICE[2][1]


@pytest.mark.parametrize(("message", "payload"), FROM_AGENT)
def test_the_agents_messages_are_these_bytes(message: signin.FromAgent, payload: bytes) -> None:
    assert signin.encode(message) == payload
    assert signin.decode_from_agent(payload) == message


@pytest.mark.parametrize(("message", "payload"), FROM_SERVICE)
def test_the_services_messages_are_these_bytes(message: signin.FromService, payload: bytes) -> None:
    assert signin.encode(message) == payload
    assert signin.decode_from_service(payload) == message


def test_an_agent_that_does_not_know_its_address_may_say_so_or_nothing() -> None:
    hello = json.loads(FROM_AGENT[0][1])
    for lan_ip in ({"LanIp": None}, {}):
        del hello["LanIp"]
        decoded = signin.decode_from_agent(json.dumps({**hello, **lan_ip}).encode())
        hello["LanIp"] = None

        assert isinstance(decoded, signin.Hello)
        assert decoded.lan_ip is None


@pytest.mark.parametrize("payload", [payload for _, payload in FROM_SERVICE])
def test_what_only_the_service_says_is_not_taken_from_an_agent(payload: bytes) -> None:
    with pytest.raises(signin.BadSignInMessage):
        signin.decode_from_agent(payload)


@pytest.mark.parametrize("payload", [payload for _, payload in FROM_AGENT])
def test_what_only_an_agent_says_is_not_taken_from_the_service(payload: bytes) -> None:
    with pytest.raises(signin.BadSignInMessage):
        signin.decode_from_service(payload)


def test_a_field_that_a_newer_version_adds_is_no_fault() -> None:
    payload = b'{"Type":"Proof","Signature":"AA==","NewerField":[1,2]}'

    assert signin.decode_from_agent(payload) == signin.Proof(signature=b"\x00")


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"Type":"Proof"}',
        b'{"Type":"proof","Signature":"AA=="}',
        b'{"Type":7,"Signature":"AA=="}',
        b'{"Type":"Proof","Signature":7}',
        b'{"Type":"Proof","Signature":"not base64!"}',
        b'{"Type":"LanAddress","LanIp":"\xff"}',
        b"[" * 50_000,
    ],
)
def test_what_cannot_be_read_is_refused_in_one_way(payload: bytes) -> None:
    with pytest.raises(signin.BadSignInMessage):
        signin.decode_from_agent(payload)


@pytest.mark.parametrize(
    "payload",
    [
        CHALLENGE.replace(b"1700000000", b"1e400"),
        CHALLENGE.replace(b"1700000000", b"1" + b"0" * 400),
        CHALLENGE.replace(b"1700000000", b"1.5"),
        CHALLENGE.replace(b"1700000000", b"-1"),
        LINK_OFFER.replace(b"600", b"1" + b"0" * 400),
        LINK_OFFER.replace(b"600", b"-1"),
        LINK_OFFER.replace(b"600", b"true"),
    ],
)
def test_a_number_that_no_clock_shows_is_refused(payload: bytes) -> None:
    with pytest.raises(signin.BadSignInMessage):
        signin.decode_from_service(payload)


@pytest.mark.parametrize("name", ["ServiceHost", "AgentVersion", "Platform", "LanIp"])
def test_a_stranger_cannot_make_the_service_keep_long_texts(name: str) -> None:
    hello = json.loads(FROM_AGENT[0][1]) | {name: "\u0130" * 301}

    with pytest.raises(signin.BadSignInMessage):
        signin.decode_from_agent(json.dumps(hello).encode())


@pytest.mark.slow
@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(payload: bytes) -> None:
    for decode in (signin.decode_from_agent, signin.decode_from_service):
        try:
            decode(payload)
        except signin.BadSignInMessage:
            pass  # the only way to refuse


@pytest.mark.parametrize(
    "said",
    [
        b'{"Type":"LanAddress","LanIp":"' + b"1" * 101 + b'"}',
        b'{"Type":"HostApiKey","RequestId":"1","ApiKey":"' + b"k" * 1001 + b'"}',
        b'{"Type":"Proof","Signature":"AA==","x":' + b"[" * 50_000,
        b"[" * 50_000,
    ],
)
def test_a_message_that_says_too_much_cannot_be_read(said: bytes) -> None:
    with pytest.raises(signin.BadSignInMessage):
        signin.decode_from_agent(said)


def test_the_clock_of_an_older_service_is_taken_to_the_second() -> None:
    secs = signin.Challenge(service_key=b"", nonce=b"", signature=b"", time_unix_sec=1_700_000_000)
    exact = structs.replace(secs, time_unix_ms=1_700_000_000_950)

    assert (secs.time_unix_s, exact.time_unix_s) == (1_700_000_000.0, 1_700_000_000.95)
