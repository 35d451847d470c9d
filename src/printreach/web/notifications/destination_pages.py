"""Pages that add, test and remove the destinations of notifications."""

from typing import Any

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import Template

from printreach.hub.denied import Denied
from printreach.hub.notifications.choices import WrongField
from printreach.rules.notifications.channels import CHANNEL_BY_NAME
from printreach.rules.rate_limits import TooSoon
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.notifications.pages import PAGE, NotificationPages
from printreach.web.signed_in import in_words


@get(PAGE + "/add", media_type=MediaType.HTML)
async def ask_for_destination(
    pages: NamedDependency[NotificationPages], way: FromQuery[str | None] = None
) -> Response[Any]:
    """Show the channels, or the form of the chosen one. way: its name, as the URL has it."""
    return pages.adding(way or "")


@post(PAGE + "/add", media_type=MediaType.HTML)
async def add(
    fields: NamedDependency[Fields], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Add a destination."""
    added = await pages.hub.add(pages.account, fields["way"], fields.values)
    if isinstance(added, WrongField):
        return pages.adding(fields["way"], fields, added)
    return redirect_with_flash(PAGE, "added")


@post(PAGE + "/{destination_id:str}/test", media_type=MediaType.HTML)
async def test(
    destination_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Send a test message now and show the outcome beside the destination."""
    tested = await pages.hub.test(pages.account, destination_id)
    anchor = f"place-{destination_id}"
    match tested:
        case TooSoon():
            sentence = f"Those were many tests. Wait {in_words(tested.wait_seconds)}."
            page = await pages.overview(WrongField(anchor, sentence), 429)
            page.headers["Retry-After"] = str(tested.wait_seconds)
            return page
        case Denied():
            await pages.destination(destination_id)
            return await pages.overview(WrongField(anchor, tested.sentence))
        case _:
            return redirect_with_flash(PAGE, "tested")


@get(PAGE + "/{destination_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(
    destination_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Ask for confirmation, since the settings typed for it are deleted too."""
    context = {
        "destination": await pages.destination(destination_id),
        "channels": CHANNEL_BY_NAME,
    }
    return Template("notifications/remove.html", context=context)


@post(PAGE + "/{destination_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    destination_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Remove a destination."""
    if not await pages.hub.remove(pages.account.account_id, destination_id):
        raise NotFoundException("There is no such place")
    return redirect_with_flash(PAGE, "removed")


DESTINATION_PAGES = [ask_for_destination, add, test, ask_to_remove, remove]
