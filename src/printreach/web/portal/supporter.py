"""The portal's step for supporter status, if it is required and missing."""

from typing import Any

from litestar import Response

from printreach.hub.denied import Denied, Reason
from printreach.rules.portal import PortalError, Step
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.plans import plans_of
from printreach.web.portal.flow_request import FlowRequest
from printreach.web.portal.pages import Sale, flow_path, paying_page, step_page
from printreach.web.services import Services
from printreach.web.signed_in import in_words


async def supporter_step(
    flow_request: FlowRequest, services: Services, *, is_back: bool
) -> Response[Any]:
    """Show the step, or the next one if the provider has confirmed the payment."""
    if not is_back or flow_request.account is None:
        return await _step(flow_request, services)
    refused = await services.billing.look(flow_request.account)
    account = await services.accounts.get(flow_request.view.facts.account_id or "")
    view = await services.portal.view(flow_request.key, account)
    if view is None or view.step is not Step.SUPPORTER:
        return flow_request.back()
    return await _step(flow_request, services, refused, is_waiting=refused is None)


async def pay_in_step(flow_request: FlowRequest, services: Services, plan: str) -> Response[Any]:
    """Go on to pay, if that is the current step."""
    if flow_request.account is None or flow_request.view.step is not Step.SUPPORTER:
        return flow_request.back()
    path = flow_path(flow_request.key.flow_id)
    url = await services.billing.buy(flow_request.account, plan, path)
    match url:
        case str():
            return paying_page(flow_request.view, flow_request.account, url)
        case Denied(Reason.PAYS_ALREADY):
            return await supporter_step(flow_request, services, is_back=True)
        case _:
            return await _step(flow_request, services, url)


async def _step(
    flow_request: FlowRequest,
    services: Services,
    fault: Denied | TooSoon | None = None,
    *,
    is_waiting: bool = False,
) -> Response[Any]:
    account_id = flow_request.view.facts.account_id or ""
    limits = await services.operating.limits.in_force(account_id)
    offers = await services.billing.offers()
    if isinstance(offers, Denied):
        fault, offers = fault or offers, ()
    return step_page(
        flow_request.key,
        flow_request.view,
        flow_request.account,
        errors={} if fault is None else {"plan": _sentence(fault)},
        refusal=PortalError.NOT_A_SUPPORTER,
        sale=Sale(
            is_sold=services.billing.is_sold,
            plans=plans_of(offers),
            is_waiting=is_waiting,
            app_connections=limits.app_connections,
        ),
    )


def _sentence(fault: Denied | TooSoon) -> str:
    if isinstance(fault, TooSoon):
        return f"Too many tries. Wait {in_words(fault.wait_seconds)}."
    return fault.sentence
