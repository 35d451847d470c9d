"""The API by which an app asks about its own connection."""

from litestar import Router, get, post
from litestar.di import NamedDependency, Provide
from litestar.params import JSONBody
from msgspec import Struct

from printreach.contract.app_answers import AppInfo, TokenBody, WatchStatus
from printreach.hub.connections.app_calls import AppCaller
from printreach.web.api.callers import provide_caller
from printreach.web.problems import answer_app_api_failure
from printreach.web.services import Services


class AppInfoAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of an AppInfo."""

    status: int = 200
    result: AppInfo


class WatchStatusAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a WatchStatus."""

    status: int = 200
    result: WatchStatus


@get("/api/appconnection/info", sync_to_thread=False)
def info(caller: NamedDependency[AppCaller], services: NamedDependency[Services]) -> AppInfoAnswer:
    """Tell an app about the printer of its connection, and what one request may carry."""
    return AppInfoAnswer(result=services.app_calls.info(caller))


@post(
    ["/api/detector/GetStatusFromAppConnection", "/api/gadget/GetStatusFromAppConnection"],
    status_code=200,
)
async def detector_status(
    caller: NamedDependency[AppCaller],
    services: NamedDependency[Services],
    data: JSONBody[TokenBody | None] = None,
) -> WatchStatusAnswer:
    """Tell an app what the failure detector says of the print under way."""
    del data  # declared so that it is described and checked; provide_caller() has read its token
    return WatchStatusAnswer(result=await services.app_calls.detector_status(caller))


APP_CONNECTION_API = Router(
    "/",
    route_handlers=[info, detector_status],
    dependencies={"caller": Provide(provide_caller)},
    exception_handlers={Exception: answer_app_api_failure},
    tags=["App Connections"],
)
