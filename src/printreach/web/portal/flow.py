"""The page of a flow: one address, which shows the step that is due."""

from typing import Any, Final

from litestar import MediaType, Response, Router, route
from litestar.di import NamedDependency, Provide
from litestar.enums import HttpMethod
from litestar.params import FromQuery

from printreach.rules.portal import Step
from printreach.web.portal.answers import choosing_page, installing_page, step_page
from printreach.web.portal.choosing import states_of
from printreach.web.portal.supporting import supporter_step
from printreach.web.portal.visits import NoSuchFlow, Visit, answer_no_such_flow, provide_visit
from printreach.web.services import Services

_MAY_CHOOSE: Final = frozenset({Step.PERMIT, Step.KEY})


@route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD], media_type=MediaType.HTML)
async def flow_page(
    visit: NamedDependency[Visit],
    services: NamedDependency[Services],
    choose: FromQuery[str | None] = None,
    back: FromQuery[str | None] = None,
    install: FromQuery[str | None] = None,
) -> Response[Any]:
    """Show the step.

    choose: the person wants another printer than the one shown. back: they come from paying.
    install: they have no agent yet.
    """
    step = visit.view.step
    if step is Step.LINK and install is not None:
        return installing_page(visit.key, visit.view, visit.account)
    if step is Step.CHOOSE or (choose is not None and step in _MAY_CHOOSE):
        states = await states_of(services.dashboard.live, visit.view.printers)
        return choosing_page(visit.key, visit.view, visit.account, states)
    if step is Step.SUPPORTER:
        return await supporter_step(visit, services, is_back=back is not None)
    return step_page(visit.key, visit.view, visit.account)


FLOW = Router(
    "/appportal/v1/flow/{flow_id:str}",
    route_handlers=[flow_page],
    dependencies={"visit": Provide(provide_visit)},
    exception_handlers={NoSuchFlow: answer_no_such_flow},
    include_in_schema=False,
)
