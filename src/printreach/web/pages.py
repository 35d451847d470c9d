"""The pages of this release: what the service is, and how a printer comes to it.

Accounts have no sign-in yet; the operator acts for them. The pages say so, and hand over the
command that the operator runs.
"""

from litestar import MediaType, Router, route
from litestar.enums import HttpMethod
from litestar.params import FromQuery
from litestar.response import Template

from printreach.rules.credentials import read_link_code

# Where a browser asks what a page is without fetching it; the server drops the body.
_READ = [HttpMethod.GET, HttpMethod.HEAD]

# What people mistype is kept for them to correct; what nobody types is not played back.
_LONGEST_TYPING = 32


@route("/", http_method=_READ, media_type=MediaType.HTML, sync_to_thread=False)
def front_page() -> Template:
    """Say what this service is, and where to begin."""
    return Template("front.html")


@route("/link", http_method=_READ, media_type=MediaType.HTML, sync_to_thread=False)
def link_page(code: FromQuery[str | None] = None) -> Template:
    """Show the link code that an agent gave, and the command that makes its printer an account's.

    code: as the agent's link carries it, or as a person typed it; absent: the page asks for it.
    """
    if code is None:
        return Template("link_ask.html", context={"typed": "", "is_wrong": False})
    readable = read_link_code(code)
    if readable is None:
        typed = code if len(code) <= _LONGEST_TYPING else ""
        return Template(
            "link_ask.html", context={"typed": typed, "is_wrong": True}, status_code=400
        )
    return Template("link_show.html", context={"code": readable})


PAGES = Router("/", route_handlers=[front_page, link_page], include_in_schema=False)
