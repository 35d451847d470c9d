"""The portal, through which an app asks a person for a connection to their printer."""

from litestar import Router
from litestar.di import Provide

from printreach.web.portal.flow import (
    START,
    NoSuchFlow,
    answer_no_such_flow,
    flow_page,
    provide_flow_request,
    provide_sent,
)
from printreach.web.portal.forms import FLOW_FORMS
from printreach.web.security import FORM

FLOW = Router(
    "/appportal/v1/flow/{flow_id:str}",
    route_handlers=[flow_page, *FLOW_FORMS],
    dependencies={"flow_request": Provide(provide_flow_request), "sent": Provide(provide_sent)},
    exception_handlers={NoSuchFlow: answer_no_such_flow},
    include_in_schema=False,
    opt=dict(FORM),
)
PORTAL_PAGES = [START, FLOW]
