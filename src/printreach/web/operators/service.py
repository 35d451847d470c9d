"""The service as a whole: counts, default limits, and the record of operators' acts."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency

from printreach.hub.denied import Denied
from printreach.rules.accounts.limits import DEFAULT_ACCOUNT_LIMITS, LimitChanges
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import Search
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.operators.accounts import LIMITS_REAUTH_FIELD
from printreach.web.operators.context import OperatorContext, listed
from printreach.web.operators.limits import limit_fields, limits_typed
from printreach.web.problems import AnyRequest
from printreach.web.signed_in import untrusted_proxy_of

LIMITS: Final = "/operator/limits"
ACTS: Final = "/operator/acts"


@get("/operator", media_type=MediaType.HTML)
async def overview(
    request: AnyRequest, operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Show counts and settings."""
    off = operator.services.watched_prints.why_off()
    return operator.page(
        "overview.html",
        detector_off=off.value if off is not None else "",
        detector_off_kind=off.name if off is not None else "",
        counts=await operator.hub.counts(),
        sign_up=operator.services.signing_up.policy.value,
        supporters=operator.services.billing.core.supporters.value,
        is_sold=operator.services.billing.is_sold,
        unseen=await operator.services.billing.unseen(),
        unknown=await operator.services.billing.unknown(),
        untrusted_proxy=untrusted_proxy_of(request),
    )


@get(LIMITS, media_type=MediaType.HTML)
async def limits_page(operator: NamedDependency[OperatorContext]) -> Response[Any]:
    """Show the limits of accounts without limits of their own."""
    changes = await operator.hub.limits.of_service()
    fields = limit_fields(changes, DEFAULT_ACCOUNT_LIMITS)
    return operator.page("limits.html", limits=fields)


@post(LIMITS, media_type=MediaType.HTML)
async def set_limits(
    fields: NamedDependency[Fields], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Change those limits."""
    typed = limits_typed(fields)
    refused: Denied | TooSoon | None = None
    field = LIMITS_REAUTH_FIELD
    if isinstance(typed, LimitChanges):
        refused = await operator.reauthenticate(fields, LIMITS_REAUTH_FIELD)
        if refused is None:
            refused, field = (
                await operator.hub.limits.set_of_service(typed, operator.by),
                "upload_bytes",
            )
        if refused is None:
            return redirect_with_flash(LIMITS, "limits")
    shown = operator.page(
        "limits.html",
        refused,
        field,
        limits=limit_fields(LimitChanges(), DEFAULT_ACCOUNT_LIMITS, fields),
    )
    if not isinstance(typed, LimitChanges):
        shown.context["errors"] = typed
        shown.status_code = ERROR_STATUS
    return shown


@get(ACTS, media_type=MediaType.HTML)
async def acts_page(
    operator: NamedDependency[OperatorContext], search: NamedDependency[Search]
) -> Response[Any]:
    """List operators' acts, the latest first."""
    return operator.page("acts.html", listing=listed(ACTS, await operator.hub.acts(search), search))


SERVICE_PAGES = [overview, limits_page, set_limits, acts_page]
