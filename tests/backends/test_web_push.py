"""Messages to browsers: encrypted and signed as the RFCs say, and only to checked addresses."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from printreach.backends import webhook_http
from printreach.backends.web_push import WebPush, encrypt
from printreach.backends.webhook_http import WebhookHttp
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.notifications.push import (
    ActButton,
    PushAct,
    PushMessage,
    Subscription,
    Urgency,
    parse_subscription,
    topic_of,
)
from printreach.rules.public_addresses import PRIVATE_NETWORKS, PUBLIC_ONLY, Reach
from tests.fakes.clock import FakeClock
from tests.fakes.names import FakeLookup
from tests.fakes.push import SubscribedBrowser
from tests.rigs.push_receiver import decrypt, from_base64url, private_key, to_base64url, token_parts
from tests.rigs.receiver import Behave, Received, Receiver, Writer, always, hang, receiving

NAME = "push.example"
HOME = Reach(networks=PRIVATE_NETWORKS)
MESSAGE = PushMessage(
    title="Workshop: this print may be failing",
    text="Look at the printer.",
    url="https://reach.example/printers/p1",
    picture="https://reach.example/snapshots/s1.jpg",
    topic=topic_of("p1", "print-1", 7),
    urgency=Urgency.HIGH,
    ttl=timedelta(hours=24),
    buttons=[ActButton(act=PushAct.PAUSE, token="secret")],
)


class OfRfc8291:
    """The example of RFC 8291, appendix A."""

    PLAINTEXT = b"When I grow up, I want to be a watermelon"
    SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    RECEIVER = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    SALT = "DGv6ra1nlYgDCS1FRnbzlw"
    AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
    BODY = (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
        "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


RFC_8292_HEADER = (
    "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiL"
    "CJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9G"
    "Au_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxA"
    "szw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
)
"""The example of RFC 8292, section 2.4."""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no push service a silent one, where a test is not about that."""
    monkeypatch.setattr(webhook_http, "TIMEOUT_S", 60.0)


@asynccontextmanager
async def pushing(reach: Reach = HOME, address: str = "127.0.0.1") -> AsyncIterator[WebPush]:
    http = WebhookHttp(FakeLookup(push_example=[[address]]), reach)
    try:
        yield WebPush(
            http=http,
            key=generate_private_key(SECP256R1()),
            clock=FakeClock(),
            token_bytes=secrets.token_bytes,
            contact="https://reach.example",
        )
    finally:
        await http.close()


def subscription_of(browser: SubscribedBrowser) -> Subscription:
    parsed = parse_subscription(browser.to_json())
    assert parsed is not None
    return parsed


def pushed_to(
    behave: Behave,
    test: Callable[[Receiver, SubscribedBrowser], None] = lambda _receiver, _browser: None,
    message: PushMessage = MESSAGE,
) -> NotSent | None:
    """What comes of one message to a push service that behaves like that."""

    async def call() -> NotSent | None:
        async with receiving() as receiver, pushing() as push:
            receiver.behave = behave
            browser = SubscribedBrowser(f"http://{NAME}:{receiver.port}/send/abc")
            sent = await push.send(subscription_of(browser), message)
            test(receiver, browser)
            return sent

    return asyncio.run(call())


def is_signed(authorization: str) -> bool:
    _, signed, signature, public = token_parts(authorization)
    half = len(signature) // 2
    r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
    key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), public)
    try:
        key.verify(encode_dss_signature(r, s), signed, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def test_a_message_is_encrypted_as_in_the_example_of_rfc_8291() -> None:
    body = encrypt(
        OfRfc8291.PLAINTEXT,
        private_key(OfRfc8291.RECEIVER).public_key(),
        from_base64url(OfRfc8291.AUTH),
        key=private_key(OfRfc8291.SENDER),
        salt=from_base64url(OfRfc8291.SALT),
    )

    assert to_base64url(body) == OfRfc8291.BODY


def test_the_browser_of_these_tests_reads_the_example_of_rfc_8291() -> None:
    key, auth = private_key(OfRfc8291.RECEIVER), from_base64url(OfRfc8291.AUTH)

    assert decrypt(from_base64url(OfRfc8291.BODY), key, auth) == OfRfc8291.PLAINTEXT


def test_the_check_of_tokens_accepts_the_example_of_rfc_8292_and_no_altered_one() -> None:
    assert is_signed(RFC_8292_HEADER)
    assert not is_signed(RFC_8292_HEADER.replace("NTM1MjM3Njgs", "NTM1MjM3Njks"))


def test_a_browser_reads_what_was_sent() -> None:
    def look(receiver: Receiver, browser: SubscribedBrowser) -> None:
        [one] = receiver.received
        said = json.loads(decrypt(one.body, browser.key, browser.auth))
        assert said["title"] == MESSAGE.title
        assert said["acts"] == [{"act": "pause", "label": "Pause", "token": "secret"}]
        assert len(one.body) <= 4096

    assert pushed_to(always(201), look) is None


def test_the_push_service_is_told_how_to_keep_the_message_and_who_sends_it() -> None:
    def look(receiver: Receiver, _browser: SubscribedBrowser) -> None:
        [one] = receiver.received
        assert one.line == "POST /send/abc HTTP/1.1"
        assert one.headers["ttl"] == "86400"
        assert one.headers["urgency"] == "high"
        assert one.headers["topic"] == MESSAGE.topic
        assert one.headers["content-encoding"] == "aes128gcm"
        assert one.headers["content-type"] == "application/octet-stream"
        claims, *_ = token_parts(one.headers["authorization"])
        assert claims["aud"] == f"http://{NAME}:{receiver.port}"
        assert claims["sub"] == "https://reach.example"
        assert claims["exp"] - FakeClock().now().timestamp() <= 24 * 3600
        assert is_signed(one.headers["authorization"])

    pushed_to(always(201), look)


def test_the_key_in_the_header_is_the_one_that_browsers_subscribe_with() -> None:
    async def call() -> None:
        async with receiving() as receiver, pushing() as push:
            browser = SubscribedBrowser(f"http://{NAME}:{receiver.port}/")
            await push.send(subscription_of(browser), MESSAGE)
            _, _, _, public = token_parts(receiver.received[0].headers["authorization"])
            assert to_base64url(public) == push.public_key

    asyncio.run(call())


def test_the_longest_message_fits() -> None:
    def look(receiver: Receiver, browser: SubscribedBrowser) -> None:
        [one] = receiver.received
        assert len(one.body) <= 4096
        assert json.loads(decrypt(one.body, browser.key, browser.auth))["text"].endswith("…")

    long = replace(MESSAGE, title="\N{CJK UNIFIED IDEOGRAPH-4E00}" * 200, text="\\" * 9000)
    assert pushed_to(always(201), look, long) is None


@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_has_ended_is_told_apart(status: int) -> None:
    assert pushed_to(always(status)) == NotSent(SendFailure.DEVICE_GONE, status)


@pytest.mark.parametrize("status", [400, 401, 403, 413, 429, 500, 503])
def test_any_other_refusal_can_be_tried_again(status: int) -> None:
    assert pushed_to(always(status)) == NotSent(SendFailure.REFUSED, status)


@pytest.mark.parametrize("status", [429, 503])
def test_a_push_service_says_how_long_to_wait(status: int) -> None:
    sent = pushed_to(always(status, "Retry-After: 120"))

    assert sent == NotSent(SendFailure.REFUSED, status, timedelta(minutes=2))


def test_a_redirect_is_not_followed() -> None:
    def look(receiver: Receiver, _browser: SubscribedBrowser) -> None:
        assert len(receiver.received) == 1

    answer = always(307, f"Location: http://{NAME}:1/elsewhere")
    assert pushed_to(answer, look) == NotSent(SendFailure.REFUSED, 307)


def test_an_endless_answer_does_not_hold_the_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "BODY_TIMEOUT_S", 0.5)

    async def flood(_received: Received, writer: Writer) -> bool:
        writer.write(b"HTTP/1.1 201 X\r\nContent-Length: 1000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    assert pushed_to(flood) is None


def test_a_push_service_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "TIMEOUT_S", 0.3)

    assert pushed_to(hang) == NotSent(SendFailure.UNREACHABLE)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1"])
def test_a_name_that_leads_to_a_private_address_is_refused_and_not_called(address: str) -> None:
    async def call() -> tuple[str | None, NotSent | None, int]:
        async with receiving() as receiver, pushing(PUBLIC_ONLY, address) as push:
            browser = SubscribedBrowser(f"https://{NAME}:{receiver.port}/")
            subscription = subscription_of(browser)
            problem = await push.problem_with(subscription)
            return problem, await push.send(subscription, MESSAGE), receiver.connections

    problem, sent, connections = asyncio.run(call())

    assert problem is not None
    assert sent == NotSent(SendFailure.UNREACHABLE)
    assert connections == 0


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example/x",
        "https://127.0.0.1/x",
        "https://user:word@push.example/x",
        "https://2130706433/",
        "https://push.example/x\r\nTopic: y",
        "file:///etc/passwd",
        "//push.example/x",
    ],
)
def test_an_endpoint_that_is_no_public_https_address_is_refused(endpoint: str) -> None:
    async def call() -> str | None:
        async with pushing(PUBLIC_ONLY, "9.9.9.9") as push:
            return await push.problem_with(subscription_of(SubscribedBrowser(endpoint)))

    assert asyncio.run(call()) is not None


def test_a_key_that_is_no_point_of_the_curve_is_refused() -> None:
    async def call() -> tuple[str | None, NotSent | None]:
        async with pushing(PUBLIC_ONLY, "9.9.9.9") as push:
            subscription = replace(
                subscription_of(SubscribedBrowser()), public_key=b"\x04" + b"\xff" * 64
            )
            return await push.problem_with(subscription), await push.send(subscription, MESSAGE)

    problem, sent = asyncio.run(call())

    assert problem is not None
    assert sent == NotSent(SendFailure.NOT_ALLOWED)
