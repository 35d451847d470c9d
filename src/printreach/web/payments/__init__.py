"""Supporter status: its pages, the offers, and the webhook of the payment provider."""

from litestar import Router

from printreach.web.payments.pages import PAYMENT_CALLS, SUPPORTING
from printreach.web.security import FORM

PAYMENT_PAGES = [
    Router("/", route_handlers=SUPPORTING, include_in_schema=False, opt=dict(FORM)),
    PAYMENT_CALLS,
]
