"""Webhooks of apps: their API and their deliveries."""

from litestar import Router

from printreach.web.security import FORM
from printreach.web.webhooks.pages import DELIVERY_PAGES

WEBHOOK_PAGES = Router(
    "/", route_handlers=[*DELIVERY_PAGES], include_in_schema=False, opt=dict(FORM)
)
