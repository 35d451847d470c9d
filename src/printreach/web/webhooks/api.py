"""The API of an app's webhook, and the keys that verify deliveries."""

import base64

from litestar import Response, Router, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotFoundException, ValidationException
from litestar.params import JSONBody
from msgspec import UNSET, Struct

from printreach.contract.app_answers import (
    SetWebhook,
    TokenBody,
    WebhookKey,
    WebhookKeyList,
    WebhookTried,
)
from printreach.hub.connections.app_calls import AppCaller
from printreach.rules.rate_limits import TooSoon
from printreach.web.connections.api import (
    FAILURES_OF_CALLERS,
    NeedsAppToken,
    NeedsBody,
    provide_caller,
    read_strictly,
)
from printreach.web.problems import AnyRequest, answer_app_api_failure, described_failures
from printreach.web.services import Services
from printreach.web.signed_in import too_many

_KEYS_MAX_AGE_S = 300


class Nothing(Struct, frozen=True):
    """A result without fields."""


class DoneAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a call that is done and has nothing to say."""

    status: int = 200
    result: Nothing = Nothing()


class WebhookTriedAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a WebhookTried."""

    status: int = 200
    result: WebhookTried


@post(
    "/api/appconnection/SetNotificationWebhook",
    status_code=200,
    operation_class=NeedsBody,
    responses=described_failures(*FAILURES_OF_CALLERS),
)
async def set_webhook(
    request: AnyRequest,
    caller: NamedDependency[AppCaller],
    services: NamedDependency[Services],
    data: JSONBody[SetWebhook],
) -> DoneAnswer:
    """Send the printer's events to an address from now on, in place of an earlier one."""
    wish = await read_strictly(request, type(data))
    chosen = wish.inclusive_event_types_filter or []
    problem = await services.webhooks.set(caller, wish.webhook_url, chosen)
    if problem is not None:
        raise ValidationException(problem)
    return DoneAnswer()


@post(
    "/api/appconnection/DeleteNotificationWebhook",
    status_code=200,
    operation_class=NeedsAppToken,
    responses=described_failures(*FAILURES_OF_CALLERS),
)
async def delete_webhook(
    caller: NamedDependency[AppCaller],
    services: NamedDependency[Services],
    data: JSONBody[TokenBody | None] = None,
) -> DoneAnswer:
    """Send no more events, not even those that wait to be sent again."""
    del data  # declared so that it is described and checked; provide_caller() has read its token
    await services.webhooks.delete(caller)
    return DoneAnswer()


@get(
    "/api/appconnection/TestWebhook",
    operation_class=NeedsAppToken,
    responses=described_failures(*FAILURES_OF_CALLERS, 404),
)
async def test_webhook(
    caller: NamedDependency[AppCaller], services: NamedDependency[Services]
) -> WebhookTriedAnswer:
    """Send a test event, once and whatever the filter says, and tell what came back."""
    outcome = await services.webhooks.test(caller)
    if outcome is None:
        raise NotFoundException("No webhook is set, or it has expired")
    if isinstance(outcome, TooSoon):
        raise too_many(outcome)
    tried = WebhookTried(
        http_status=outcome.http_status,
        duration_ms=outcome.duration_ms,
        error=outcome.error if outcome.error is not None else UNSET,
    )
    return WebhookTriedAnswer(result=tried)


@get("/.well-known/webhook-keys.json", sync_to_thread=False)
def webhook_keys(services: NamedDependency[Services]) -> Response[WebhookKeyList]:
    """Return the public keys by which deliveries to webhooks are verified."""
    keys = [
        WebhookKey(
            key_id=key.key_id,
            public_key=base64.b64encode(key.public).decode("ascii"),
            not_after=key.not_after,
        )
        for key in services.webhooks.public_keys()
    ]
    headers = {"Cache-Control": f"public, max-age={_KEYS_MAX_AGE_S}"}
    return Response(WebhookKeyList(keys=keys), headers=headers)


WEBHOOK_API = Router(
    "/",
    route_handlers=[
        webhook_keys,
        Router(
            "/",
            route_handlers=[set_webhook, delete_webhook, test_webhook],
            dependencies={"caller": Provide(provide_caller)},
        ),
    ],
    exception_handlers={Exception: answer_app_api_failure},
    tags=["Webhooks"],
)
