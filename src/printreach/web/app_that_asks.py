"""What the pages of signing in and up show of the app whose flow they interrupt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from printreach.hub.portal.view import FlowKey
from printreach.rules.portal import FINAL_STEPS
from printreach.web.signed_in import Browser

BROWSER: Final = "printreach_portal"
"""The cookie that ties flows to the browser in which they began."""
FLOWS: Final = "/appportal/v1/flow/"
"""The beginning of the path of a flow's pages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AppThatAsks:
    """An app in whose flow somebody signs in or up.

    path: of the flow. form: the fields of a form of the flow, with which the person can refuse.
    """

    name: str
    path: str
    form: Mapping[str, str]


async def app_that_asks(browser: Browser, next_path: str) -> AppThatAsks | None:
    """Return the app of the flow to which that page leads on; None if this browser has none there.

    Its logo is not among it: pages with passwords load nothing from other hosts.
    """
    if not next_path.startswith(FLOWS):
        return None
    flow_id = next_path.removeprefix(FLOWS).partition("?")[0]
    key = FlowKey(flow_id, browser.cookie(BROWSER))
    view = await browser.services.portal.view(key, None)
    if view is None or view.step in FINAL_STEPS:
        return None
    return AppThatAsks(name=view.app.name, path=FLOWS + flow_id, form={"token": key.form_token})
