"""The payment provider's webhook: no sign-in, no cookie, but a signature over the raw body."""

import logging
from datetime import timedelta
from typing import Final

from litestar import Response, Router, post
from litestar.di import NamedDependency
from litestar.exceptions import ClientException, NotFoundException

from printreach.ports.payments import ForgedCall, PaymentsUnavailable
from printreach.rules.rate_limits import Limit
from printreach.web.problems import AnyRequest
from printreach.web.services import Services

LARGEST_CALL: Final = 256 * 1024
"""Several times the size of an event about a subscription."""

_WARNINGS: Final = Limit(name="forged call", at_once=5, every=timedelta(minutes=10))
"""Limits the warnings in the log about wrong signatures."""

_log = logging.getLogger(__name__)


@post("/payments/stripe", status_code=200)
async def receive_webhook(
    request: AnyRequest, services: NamedDependency[Services]
) -> Response[None]:
    """Take an event. The provider retries for days until it gets a 2xx status."""
    if services.billing.payments is None:
        raise NotFoundException("Nothing is sold here")
    signature = request.headers.get("stripe-signature", "")
    if not signature:
        raise ClientException("The signature is missing")  # the body stays unread
    try:
        await services.billing.hear(await request.body(), signature)
    except ForgedCall as error:
        # A wrong secret in the settings looks the same, so the operator is warned, but not at every
        # request that a stranger sends here.
        if services.caller_tries.take(_WARNINGS, "stripe") is None:
            _log.warning("a call about payments was refused: %s", error)
        raise ClientException("The signature doesn't fit, or is too old") from None
    except PaymentsUnavailable as error:
        _log.warning("a call about payments has to come again: %s", error)
        return Response(None, status_code=503, headers={"Retry-After": "60"})
    return Response(None, status_code=200)


PAYMENT_CALLS = Router(
    "/",
    route_handlers=[receive_webhook],
    include_in_schema=False,
    request_max_body_size=LARGEST_CALL,
)
