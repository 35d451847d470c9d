"""Stripe's API and pages on loopback. A request that has not the documented shape is refused."""

import json
import re
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl, urlsplit

import stripe

from printreach.backends import pay_stripe
from tests.fakes.stripe.books import Books, Object

KEY = "sk_test_abcdefgh12345678"
SECRET = "whsec_abcdefgh12345678"
MONTHLY, YEARLY = "price_monthly", "price_yearly"
TIMEOUT_S = 60.0

_SESSION = {
    *("mode", "line_items[0][price]", "line_items[0][quantity]", "client_reference_id"),
    *("subscription_data[metadata][printreach_account]", "success_url", "cancel_url"),
}
_WHO = ({"customer"}, {"customer_email"})


class Refused(Exception):
    """Stripe's own error."""

    def __init__(self, status: int, code: str, kind: str = "invalid_request_error") -> None:
        self.status = status
        self.body = {"error": {"type": kind, "code": code, "message": f"fake: {code} {KEY[:11]}"}}


@dataclass
class FakeStripe:
    """url: of API and pages. calls_go_to: where signed calls are sent; None: nowhere.

    is_away: every request fails. asked: method and path of what was asked so far.
    """

    url: str
    books: Books
    calls_go_to: str | None = None
    is_away: bool = False
    asked: list[str] = field(default_factory=list)
    before_answer: Callable[[str], None] = lambda _path: None

    def event(self, kind: str, about: Object, event_id: str = "evt_1") -> str:
        """Return the response of a call."""
        return json.dumps(
            {
                "id": event_id,
                "object": "event",
                "type": kind,
                "api_version": stripe.api_version,
                "livemode": False,
                "data": {"object": about},
            }
        )

    def send(self, kind: str, about: Object, event_id: str) -> int:
        """Call the service, signed; the status it answers with."""
        assert self.calls_go_to is not None
        body = self.event(kind, about, event_id)
        headers = {"Stripe-Signature": sign(body), "Content-Type": "application/json"}
        request = urllib.request.Request(self.calls_go_to, body.encode(), headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return int(answer.status)


def sign(body: str, *, secret: str = SECRET, at: float | None = None) -> str:
    """The header with which Stripe signs a call, made by its own library."""
    seconds = int(time.time() if at is None else at)
    return str(stripe.WebhookSignature.generate_signature_header(body, secret, seconds))


@contextmanager
def fake_stripe(now: Callable[[], int]) -> Iterator[FakeStripe]:
    """One with a monthly and a yearly price. The service waits for it however busy a machine is."""
    books = Books(now)
    books.add_price(MONTHLY, 300, "month")
    books.add_price(YEARLY, 3000, "year")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    fake = FakeStripe(f"http://127.0.0.1:{server.server_port}", books)
    server.fake = fake  # type: ignore[attr-defined]  # the handler's way to it
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        with patch.object(pay_stripe, "TIMEOUT_S", TIMEOUT_S):
            yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # else the body of each answer waits 40 ms for the heads' receipt
    )

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        fake: FakeStripe = self.server.fake  # type: ignore[attr-defined]  # as set above
        length = int(self.headers.get("Content-Length") or 0)
        body, place = self.rfile.read(length).decode(), urlsplit(self.path)
        fake.asked.append(f"{self.command} {place.path}")
        if not place.path.startswith("/v1/"):
            self._page(fake, place.path)
            return
        try:
            self._check(fake, body)
            fields = dict(parse_qsl(body or place.query, keep_blank_values=True))
            status, result = 200, _api(fake, self.command, place.path, fields)
        except Refused as refused:
            status, result = refused.status, refused.body
        fake.before_answer(place.path)
        self._send(status, json.dumps(result), "application/json")

    def _check(self, fake: FakeStripe, body: str) -> None:
        if fake.is_away:
            raise Refused(503, "api_error", "api_error")
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            raise Refused(401, "invalid_api_key")
        if self.headers.get("Stripe-Version") != stripe.api_version:
            raise Refused(400, "unknown_version")
        if self.command == "POST" and not self.headers.get("Idempotency-Key"):
            raise Refused(400, "no_idempotency_key")
        form = "application/x-www-form-urlencoded"
        if body and self.headers.get("Content-Type") != form:
            raise Refused(400, "not_a_form")

    def _page(self, fake: FakeStripe, path: str) -> None:
        """The page on which a person pays, or manages what they pay."""
        session_id = path.rsplit("/", 1)[-1]
        session = fake.books.sessions.get(session_id)
        if session is None:
            self._send(200, "<h1>Your subscription</h1>", "text/html")
        elif self.command == "GET":
            left = session["asked"]["cancel_url"]
            pay = '<h1>Pay</h1><form method="post"><button>Pay</button></form>'
            text = f'{pay}<a href="{left}">Leave</a>'
            self._send(200, text, "text/html")
        else:
            subscription = fake.books.pay(session_id)
            if fake.calls_go_to is not None:
                fake.send("customer.subscription.created", subscription, f"evt_{session_id}")
            self._send(303, "", "text/html", session["asked"]["success_url"])

    def _send(self, status: int, text: str, kind: str, location: str = "") -> None:
        payload = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("Request-Id", "req_fake")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(payload)


def _api(fake: FakeStripe, method: str, path: str, fields: dict[str, str]) -> Object:
    for verb, pattern, act in _ROUTES:
        match = re.fullmatch(pattern, path)
        if match and verb == method:
            result: Object = act(fake, *match.groups(), fields)
            return result
    raise Refused(404, "url_invalid")


def _price(fake: FakeStripe, price_id: str, _fields: dict[str, str]) -> Object:
    return _found(fake.books.prices, price_id)


def _make_session(fake: FakeStripe, fields: dict[str, str]) -> Object:
    who = set(fields) - _SESSION
    if not set(fields) >= _SESSION or who not in _WHO or fields["mode"] != "subscription":
        raise Refused(400, "parameter_unknown")
    _found(fake.books.prices, fields["line_items[0][price]"])
    if "customer" in fields:
        _found(fake.books.customers, fields["customer"])
    return fake.books.add_session(fields, fake.url)


def _session(fake: FakeStripe, session_id: str, _fields: dict[str, str]) -> Object:
    return _found(fake.books.sessions, session_id)


def _expire(fake: FakeStripe, session_id: str, _fields: dict[str, str]) -> Object:
    session = _found(fake.books.sessions, session_id)
    if session["status"] != "open":
        raise Refused(400, "resource_not_open")
    session["status"] = "expired"
    return session


def _portal(fake: FakeStripe, fields: dict[str, str]) -> Object:
    if set(fields) != {"customer", "return_url"}:
        raise Refused(400, "parameter_unknown")
    _found(fake.books.customers, fields["customer"])
    return {"id": "bps_1", "object": "billing_portal.session", "url": f"{fake.url}/portal/p"}


def _subscriptions(fake: FakeStripe, fields: dict[str, str]) -> Object:
    if fields.get("status") != "all" or set(fields) != {"customer", "status", "limit"}:
        raise Refused(400, "parameter_unknown")
    _found(fake.books.customers, fields["customer"])
    every = fake.books.subscriptions.values()
    return _list([one for one in every if one["customer"] == fields["customer"]])


def _cancel(fake: FakeStripe, subscription_id: str, _fields: dict[str, str]) -> Object:
    subscription = _found(fake.books.subscriptions, subscription_id)
    fake.books.end(subscription)
    return subscription


def _payments(fake: FakeStripe, fields: dict[str, str]) -> Object:
    """Of one invoice, with the charges that were asked for along with it."""
    wanted = {fields.get("expand[0]"), fields.get("expand[1]")}
    if wanted != {"data.payment.payment_intent.latest_charge", "data.payment.charge"}:
        raise Refused(400, "not_expanded")
    charge = fake.books.payments.get(fields["invoice"])
    if charge is None:
        return _list([])
    intent = {"id": "pi_1", "object": "payment_intent", "latest_charge": charge}
    payment = {"type": "payment_intent", "payment_intent": intent}
    return _list([{"id": "inpay_1", "object": "invoice_payment", "payment": payment}])


def _disputes(fake: FakeStripe, fields: dict[str, str]) -> Object:
    if set(fields) != {"charge", "limit"}:
        raise Refused(400, "parameter_unknown")
    return _list(fake.books.disputes.get(fields["charge"], []))


def _charge(fake: FakeStripe, charge_id: str, _fields: dict[str, str]) -> Object:
    return _found({one["id"]: one for one in fake.books.payments.values()}, charge_id)


def _found(kept: dict[str, Object], key: str) -> Object:
    if key not in kept:
        raise Refused(404, "resource_missing")
    return kept[key]


def _list(data: list[Object]) -> Object:
    return {"object": "list", "data": data, "has_more": False, "url": "/v1/fake"}


_ROUTES: list[tuple[str, str, Callable[..., Any]]] = [
    ("GET", "/v1/prices/(.+)", _price),
    ("POST", "/v1/checkout/sessions", _make_session),
    ("GET", "/v1/checkout/sessions/([^/]+)", _session),
    ("POST", "/v1/checkout/sessions/([^/]+)/expire", _expire),
    ("POST", "/v1/billing_portal/sessions", _portal),
    ("GET", "/v1/subscriptions", _subscriptions),
    ("DELETE", "/v1/subscriptions/([^/]+)", _cancel),
    ("GET", "/v1/invoice_payments", _payments),
    ("GET", "/v1/disputes", _disputes),
    ("GET", "/v1/charges/([^/]+)", _charge),
]
