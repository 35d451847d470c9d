"""The page of a flow: one address, which shows the current step."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from litestar import MediaType, Response, Router, route
from litestar.di import NamedDependency, Provide
from litestar.enums import HttpMethod
from litestar.params import FromQuery

from printreach.hub.portal.view import PrinterHere
from printreach.hub.printers.live import LiveStatus
from printreach.rules.portal import Step
from printreach.web.portal.flow_request import (
    FlowRequest,
    NoSuchFlow,
    answer_no_such_flow,
    provide_flow_request,
)
from printreach.web.portal.pages import choosing_page, installing_page, step_page
from printreach.web.portal.supporter import supporter_step
from printreach.web.services import Services

SOON_S: Final = 0.5
"""A printer that has not answered by then is listed without a state."""
OFFLINE: Final = "offline"
_MAY_CHOOSE: Final = frozenset({Step.PERMIT, Step.KEY})


@route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD], media_type=MediaType.HTML)
async def flow_page(
    flow_request: NamedDependency[FlowRequest],
    services: NamedDependency[Services],
    choose: FromQuery[str | None] = None,
    back: FromQuery[str | None] = None,
    install: FromQuery[str | None] = None,
) -> Response[Any]:
    """Show the step.

    choose: the person wants another printer than the one shown. back: they return from paying.
    install: they have no agent yet.
    """
    step = flow_request.view.step
    if step is Step.LINK and install is not None:
        return installing_page(flow_request.key, flow_request.view, flow_request.account)
    if step is Step.CHOOSE or (choose is not None and step in _MAY_CHOOSE):
        states = await _states_of(services.dashboard.live, flow_request.view.printers)
        return choosing_page(flow_request.key, flow_request.view, flow_request.account, states)
    if step is Step.SUPPORTER:
        return await supporter_step(flow_request, services, is_back=back is not None)
    return step_page(flow_request.key, flow_request.view, flow_request.account)


async def _states_of(live: LiveStatus, printers: Iterable[PrinterHere]) -> Mapping[str, str]:
    """Return the state of each printer, by its id, as far as it is known soon."""
    here = list(printers)
    online = [one.printer.owned for one in here if one.is_online]
    known = await live.fresh(online, SOON_S)
    states = {one.printer.printer_id: OFFLINE for one in here if not one.is_online}
    for printer in online:
        reading = known.get(printer)
        if reading is not None and reading.refusal is not None:
            states[printer.printer_id] = OFFLINE
        elif reading is not None and reading.status is not None:
            states[printer.printer_id] = reading.status.job_status.state.value
    return states


FLOW = Router(
    "/appportal/v1/flow/{flow_id:str}",
    route_handlers=[flow_page],
    dependencies={"flow_request": Provide(provide_flow_request)},
    exception_handlers={NoSuchFlow: answer_no_such_flow},
    include_in_schema=False,
)
