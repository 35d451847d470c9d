"""A check of each form that a test sends: after a success, a page with an address follows."""

from types import MappingProxyType
from typing import Any, Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.web.flash import IN_PLACE

_GOES_ON: Final = "goes on to another host by itself; our policy lets no form redirect there"
_ASKS: Final = "asks before anything is done"

ANSWERED_WITH_A_PAGE: Final = MappingProxyType(
    {
        "/signin/other": _GOES_ON,
        "/account/other": _GOES_ON,
        "/account/supporter/pay": _GOES_ON,
        "/account/supporter/manage": _GOES_ON,
        "/printers/{printer_id}/open": _GOES_ON,
        "/appportal/v1/flow/{flow_id}/pay": _GOES_ON,
        "/appportal/v1/flow/{flow_id}/allow": "hands the app its secrets once",
        "/appportal/v1/flow/{flow_id}/key": "hands the app its secrets once",
        "/usage/free-only": _ASKS,
        "/usage/billing": _ASKS,
        "/printers/{printer_id}/heat": _ASKS,
        "/printers/{printer_id}/preset": _ASKS,
        "/printers/{printer_id}/move": _ASKS,
        "/printers/{printer_id}/home": _ASKS,
        "/notifications/stop": "mail programs send it, and follow no redirect (RFC 8058)",
    }
)
"""From a form's route to why its success is answered with a page all the same."""


class FormsRedirect:
    """ASGI middleware of tests that fails where a form is answered with a page instead of 303.

    To reload such a page would send the form again.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def checked(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["type"] == ScopeType.HTTP:
                path: Any = scope.get("path_template")
                kind = dict(message["headers"]).get(b"content-type", b"")
                is_page = 200 <= message["status"] < 300 and kind.startswith(b"text/html")
                is_in_place = any(name == IN_PLACE for name, _ in scope["headers"])
                if scope["method"] == "POST" and is_page and not is_in_place:
                    assert path in ANSWERED_WITH_A_PAGE, f"a form at {path} is answered with a page"
            await send(message)

        await self._app(scope, receive, checked)
