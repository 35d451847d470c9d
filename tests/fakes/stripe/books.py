"""Stripe's records: prices, sessions, customers, subscriptions, and their payments."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]

MONTH_S = 30 * 24 * 3600
YEAR_S = 365 * 24 * 3600


@dataclass
class Books:
    """now: in seconds, as Stripe counts time."""

    now: Callable[[], int]
    prices: dict[str, Object] = field(default_factory=dict)
    sessions: dict[str, Object] = field(default_factory=dict)
    customers: dict[str, Object] = field(default_factory=dict)
    subscriptions: dict[str, Object] = field(default_factory=dict)
    payments: dict[str, Object] = field(default_factory=dict)
    """The charge of each invoice."""
    disputes: dict[str, list[Object]] = field(default_factory=dict)
    """By the charge that they are about."""
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def add_price(self, price_id: str, amount: int, interval: str, currency: str = "eur") -> None:
        self.prices[price_id] = {
            "id": price_id,
            "object": "price",
            "active": True,
            "currency": currency,
            "unit_amount": amount,
            "type": "recurring",
            "recurring": {"interval": interval, "interval_count": 1, "usage_type": "licensed"},
        }

    def add_session(self, asked: dict[str, str], pages: str) -> Object:
        session_id = self._id("cs_test")
        self.sessions[session_id] = {
            "id": session_id,
            "object": "checkout.session",
            "mode": "subscription",
            "status": "open",
            "url": f"{pages}/pay/{session_id}",
            "customer": asked.get("customer"),
            "customer_email": asked.get("customer_email"),
            "client_reference_id": asked["client_reference_id"],
            "subscription": None,
            "asked": asked,
        }
        return self.sessions[session_id]

    def pay(self, session_id: str) -> Object:
        """Somebody pays on the page: there is a subscription now, and its first invoice."""
        session = self.sessions[session_id]
        assert session["status"] == "open", f"nobody can pay on a page that is {session['status']}"
        asked = session["asked"]
        customer = session["customer"] or self._customer(asked["customer_email"])
        metadata = {
            name.removeprefix("subscription_data[metadata][").rstrip("]"): value
            for name, value in asked.items()
            if name.startswith("subscription_data[metadata][")
        }
        subscription = self._subscription(customer, asked["line_items[0][price]"], metadata)
        session |= {
            "status": "complete",
            "customer": customer,
            "subscription": subscription["id"],
        }
        return subscription

    def renew(self, subscription: Object, *, paid: bool = True) -> None:
        """The next period begins; its payment succeeds, or fails for now."""
        item = subscription["items"]["data"][0]
        length = item["current_period_end"] - item["current_period_start"]
        item["current_period_start"] = item["current_period_end"]
        item["current_period_end"] += length
        subscription["status"] = "active" if paid else "past_due"
        subscription["latest_invoice"] = self._invoice(paid=paid, customer=subscription["customer"])

    def refund(self, subscription: Object) -> None:
        self.payments[subscription["latest_invoice"]]["refunded"] = True

    def dispute(self, subscription: Object, status: str = "needs_response") -> Object:
        """The payer's bank takes the payment back; or decides by then."""
        charge = self.payments[subscription["latest_invoice"]]
        charge["disputed"] = True
        dispute = {"id": "dp_1", "object": "dispute", "charge": charge["id"], "status": status}
        self.disputes[charge["id"]] = [dispute]
        return dispute

    def cancel_at_end(self, subscription: Object) -> None:
        item = subscription["items"]["data"][0]
        subscription |= {"cancel_at_period_end": True, "cancel_at": item["current_period_end"]}

    def end(self, subscription: Object) -> None:
        subscription |= {"status": "canceled", "ended_at": self.now()}

    def _customer(self, email: str) -> str:
        customer_id = self._id("cus")
        self.customers[customer_id] = {"id": customer_id, "object": "customer", "email": email}
        return customer_id

    def _subscription(self, customer: str, price: str, metadata: dict[str, str]) -> Object:
        subscription_id, at = self._id("sub"), self.now()
        length = YEAR_S if self.prices[price]["recurring"]["interval"] == "year" else MONTH_S
        item = {
            "id": self._id("si"),
            "object": "subscription_item",
            "current_period_start": at,
            "current_period_end": at + length,
            "price": self.prices[price],
        }
        made = {
            "id": subscription_id,
            "object": "subscription",
            "customer": customer,
            "status": "active",
            "start_date": at,
            "cancel_at": None,
            "cancel_at_period_end": False,
            "ended_at": None,
            "metadata": metadata,
            "items": {"object": "list", "data": [item], "has_more": False},
            "latest_invoice": self._invoice(paid=True, customer=customer),
        }
        self.subscriptions[subscription_id] = made
        return made

    def _invoice(self, *, paid: bool, customer: str) -> str:
        invoice_id = self._id("in")
        if paid:
            self.payments[invoice_id] = {
                "id": self._id("ch"),
                "object": "charge",
                "customer": customer,
                "refunded": False,
                "disputed": False,
            }
        return invoice_id

    def _id(self, kind: str) -> str:
        return f"{kind}_{next(self._ids):04d}"
