"""Pages that add, test and remove the destinations of notifications."""

from typing import Any

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import Template

from printreach.hub.denied import Denied
from printreach.hub.notify.choices import WrongField
from printreach.rules.notify_ways import WAY_BY_NAME
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.forms import Fields
from printreach.web.notifications.pages import PAGE, NotificationPages, redirect_with_flash
from printreach.web.signed_in import in_words


@get(PAGE + "/add", media_type=MediaType.HTML)
async def ask_for_place(
    pages: NamedDependency[NotificationPages], way: FromQuery[str | None] = None
) -> Response[Any]:
    """Show the ways to notify, or the form of the chosen one."""
    return pages.adding(way or "")


@post(PAGE + "/add", media_type=MediaType.HTML)
async def add(
    fields: NamedDependency[Fields], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Add a destination."""
    added = await pages.hub.add(pages.account, fields["way"], fields.values)
    if isinstance(added, WrongField):
        return pages.adding(fields["way"], fields, added)
    return redirect_with_flash("added")


@post(PAGE + "/{target_id:str}/test", media_type=MediaType.HTML)
async def test(
    target_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Send a test message now and show the outcome beside the destination."""
    tested = await pages.hub.test(pages.account, target_id)
    place = f"place-{target_id}"
    match tested:
        case TooSoon():
            sentence = f"Those were many tests. Wait {in_words(tested.wait_seconds)}."
            page = await pages.overview(WrongField(place, sentence), 429)
            page.headers["Retry-After"] = str(tested.wait_seconds)
            return page
        case Denied():
            await pages.place(target_id)
            return await pages.overview(WrongField(place, tested.sentence))
        case _:
            return redirect_with_flash("tested")


@get(PAGE + "/{target_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(
    target_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Ask for confirmation, since the settings typed for it are deleted too."""
    context = {"target": await pages.place(target_id), "ways": WAY_BY_NAME}
    return Template("notifications/remove.html", context=context)


@post(PAGE + "/{target_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    target_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Remove a destination."""
    if not await pages.hub.remove(pages.account.account_id, target_id):
        raise NotFoundException("There is no such place")
    return redirect_with_flash("removed")


PLACE_PAGES = [ask_for_place, add, test, ask_to_remove, remove]
