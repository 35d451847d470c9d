"""Where a person hears of their prints: added, tried, removed."""

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
from printreach.web.notifications.desk import PAGE, Desk, back
from printreach.web.signed_in import in_words


@get(PAGE + "/add", media_type=MediaType.HTML)
async def ask_for_place(
    desk: NamedDependency[Desk], way: FromQuery[str | None] = None
) -> Response[Any]:
    """The ways to be told; then what one of them has to know."""
    return desk.adding(way or "")


@post(PAGE + "/add", media_type=MediaType.HTML)
async def add(fields: NamedDependency[Fields], desk: NamedDependency[Desk]) -> Response[Any]:
    """Add a place where a person is told."""
    added = await desk.hub.add(desk.account, fields["way"], fields.values)
    if isinstance(added, WrongField):
        return desk.adding(fields["way"], fields, added)
    return back("added")


@post(PAGE + "/{target_id:str}/test", media_type=MediaType.HTML)
async def test(target_id: FromPath[str], desk: NamedDependency[Desk]) -> Response[Any]:
    """Send a message there now; the answer is told at the place."""
    tested = await desk.hub.test(desk.account, target_id)
    place = f"place-{target_id}"
    match tested:
        case TooSoon():
            sentence = f"Those were many tests. Wait {in_words(tested.wait_seconds)}."
            page = await desk.overview(WrongField(place, sentence), 429)
            page.headers["Retry-After"] = str(tested.wait_seconds)
            return page
        case Denied():
            await desk.place(target_id)
            return await desk.overview(WrongField(place, tested.sentence))
        case _:
            return back("tested")


@get(PAGE + "/{target_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(target_id: FromPath[str], desk: NamedDependency[Desk]) -> Response[Any]:
    """Ask first: what was typed for it is gone, too."""
    context = {"target": await desk.place(target_id), "ways": WAY_BY_NAME}
    return Template("notifications/remove.html", context=context)


@post(PAGE + "/{target_id:str}/remove", media_type=MediaType.HTML)
async def remove(target_id: FromPath[str], desk: NamedDependency[Desk]) -> Response[Any]:
    """Take a place off the list."""
    if not await desk.hub.remove(desk.account.account_id, target_id):
        raise NotFoundException("There is no such place")
    return back("removed")


PLACE_PAGES = [ask_for_place, add, test, ask_to_remove, remove]
