"""The public pages of Live Links: without sign-in, read-only, and closed to search engines.

A page's address is its secret. It is not sent to other sites as a referrer, and an unknown address
reveals nothing else.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from litestar import MediaType, Response, get, route
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException, TooManyRequestsException
from litestar.params import FromPath
from litestar.response import Redirect, ServerSentEvent, Template
from litestar.response.sse import ServerSentEventMessage

from printreach.hub.connections.live_links import LiveView
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_, _
from printreach.limiters.slots import Slots
from printreach.rules.rate_limits import Limit, networks_of
from printreach.web.disconnects import ends_slow_readers, sse_response
from printreach.web.printer_state import print_times, state_of
from printreach.web.printers.cards import NO_WEBCAM, Temp, Webcam, temps_of, webcam_of
from printreach.web.printers.open_pages import HEARTBEAT_S, MAX_STREAM_S, page_event, templates_of
from printreach.web.printers.view import layers_of
from printreach.web.problems import AnyRequest
from printreach.web.routing import DeclaredRouter
from printreach.web.safe_methods import READ
from printreach.web.security import NO_REFERRER, SANDBOX
from printreach.web.services import Services
from printreach.web.signed_in import raise_if_too_soon, visitor_of

HIDDEN: Final = {
    **NO_REFERRER,
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Cache-Control": "no-store",  # else that of a stream of events would allow to store it
}
PICTURE: Final = {**HIDDEN, **SANDBOX}
MAX_VIEWERS: Final = 1000
"""Open streams of all links; the web role accepts four times as many connections."""
MAX_PER_LINK: Final = 500
MAX_PER_ADDRESS: Final = 20
"""An office or a school shares one address; more of its people read the page without the stream."""
PAGES_BY_ADDRESS: Final = Limit(name="live-page", at_once=120, every=timedelta(seconds=1))
PICTURES_BY_ADDRESS: Final = Limit(name="live-picture", at_once=200, every=timedelta(seconds=0.1))
DRAWN_EVERY_S: Final = 2.0
_PART: Final = "live/now.html"


@route("/l/{short_id:str}", http_method=READ)
async def short_address(
    request: AnyRequest, short_id: FromPath[str], services: NamedDependency[Services]
) -> Redirect:
    """Redirect from the short address to the page."""
    _limit(request, services, PAGES_BY_ADDRESS)
    live_id = await services.live_links.live_id_of(short_id)
    if live_id is None:
        raise _no_such_link()
    return Redirect(f"/live/{live_id}", status_code=303, headers=HIDDEN)


@route("/live/{live_id:str}", http_method=READ, media_type=MediaType.HTML)
async def live_page(
    request: AnyRequest, live_id: FromPath[str], services: NamedDependency[Services]
) -> Template:
    """Show the printer's state, or that the link has ended."""
    _limit(request, services, PAGES_BY_ADDRESS)
    view = await _view(services, live_id)
    if view.seen is not None and view.seen.is_online:
        await services.live_status.fresh([view.link.printer], 1.5)
        view = await _view(services, live_id)
    if view.seen is None:
        return Template("live/ended.html", context={"view": view}, status_code=410, headers=HIDDEN)
    at = services.clock.now()
    context = {
        "link": view.link,
        "facts": facts_of(view, view.seen, at),
        "webcam": picture_of(view, view.seen, at),
    }
    return Template("live/live.html", context=context, headers=HIDDEN)


@get("/live/{live_id:str}/picture")
async def live_picture(
    request: AnyRequest, live_id: FromPath[str], services: NamedDependency[Services]
) -> Response[bytes]:
    """Return the newest picture, which all viewers share."""
    _limit(request, services, PICTURES_BY_ADDRESS)
    view = await _view(services, live_id)
    if view.seen is None or not view.seen.is_online or not view.shows_camera:
        raise NotFoundException(N_("There is no picture now"))
    picture = await services.pictures.newest(view.link.printer)
    if picture is None:
        raise NotFoundException(N_("There is no picture now"))
    return Response(picture.data, media_type="image/jpeg", headers=PICTURE)


@get("/live/{live_id:str}/events", middleware=[ends_slow_readers])
async def live_events(
    request: AnyRequest,
    live_id: FromPath[str],
    services: NamedDependency[Services],
) -> ServerSentEvent:
    """Send the page its changes until the link ends."""
    _limit(request, services, PAGES_BY_ADDRESS)
    await _view(services, live_id)
    limits = limits_of_viewer(live_id, visitor_of(request).address)
    viewers = services.live_viewers
    if not viewers.are_free(limits):
        raise TooManyRequestsException(
            N_("Too many viewers at once"), headers={"Retry-After": "30"}
        )
    return sse_response(_counted(_events(request, services, live_id), viewers, limits), HIDDEN)


def limits_of_viewer(live_id: str, address: str) -> Mapping[str, int]:
    """Return the limits that a viewer counts against: of the link, and of the viewer's networks."""
    networks = {network.name: MAX_PER_ADDRESS * network.share for network in networks_of(address)}
    return {f"link {live_id}": MAX_PER_LINK, **networks}


async def _counted(
    events: AsyncIterator[ServerSentEventMessage], viewers: Slots, limits: Mapping[str, int]
) -> AsyncIterator[ServerSentEventMessage]:
    """Count a viewer while the stream is read.

    The count is in here, since a response that is never started would not be counted down.
    """
    if not viewers.take(limits):
        return
    try:
        async for event in events:
            yield event
    finally:
        viewers.release(limits)


async def _events(
    request: AnyRequest, services: Services, live_id: str
) -> AsyncIterator[ServerSentEventMessage]:
    part = templates_of(request).get_template(_PART)
    loop = asyncio.get_running_loop()
    ends_at, heartbeat_at, sent = loop.time() + MAX_STREAM_S, loop.time(), ""
    view = await services.live_links.look(live_id)
    watched = [view.link.printer] if view is not None else []
    subscription = services.live_status.subscribe(watched, DRAWN_EVERY_S)
    try:
        while loop.time() < ends_at:
            view = await services.live_links.look(live_id)
            if view is None or view.seen is None:
                yield page_event("reload", {})
                return
            drawn = part.render(facts=facts_of(view, view.seen, services.clock.now()))
            if drawn != sent:
                sent = drawn
                yield page_event("part", {"id": "part-now", "html": drawn})
            if loop.time() >= heartbeat_at:
                heartbeat_at = loop.time() + HEARTBEAT_S
                yield page_event("beat", {})
            with suppress(TimeoutError):
                async with asyncio.timeout_at(heartbeat_at):
                    await subscription.next_readings()
            await asyncio.sleep(DRAWN_EVERY_S)
    finally:
        subscription.close()


async def _view(services: Services, live_id: str) -> LiveView:
    """Return the view. Raises the same NotFoundException for every unknown address."""
    view = await services.live_links.look(live_id)
    if view is None:
        raise _no_such_link()
    return view


def _limit(request: AnyRequest, services: Services, limit: Limit) -> None:
    raise_if_too_soon(services.caller_tries.take_by_address(limit, visitor_of(request).address))


def _no_such_link() -> NotFoundException:
    return NotFoundException(_("There is no such live view"), headers=HIDDEN)


LIVE_PAGES = DeclaredRouter(
    "/",
    route_handlers=[short_address, live_page, live_picture, live_events],
    include_in_schema=False,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveFacts:
    """The data of live/now.html. name, file: "" unless the owner shows them.

    Sentences from the printer are left out, since they may name addresses and people.
    """

    state: str
    is_here: bool
    name: str
    file: str
    progress: float | None
    time_left_s: int | None
    layers: str
    temps: list[Temp]
    seen_at: datetime | None


def facts_of(view: LiveView, seen: SeenPrinter, at: datetime) -> LiveFacts:
    state = state_of(seen, at)
    job = state.job if state.is_here else None
    times = print_times(seen.reading.status, seen.reading.seen_at) if state.is_here else None
    shows_file = times is not None and view.link.shows_names
    return LiveFacts(
        state=state.badge,
        is_here=state.is_here,
        name=seen.printer.name if view.link.shows_names else "",
        file=job.current_print.file_name if job is not None and shows_file else "",
        progress=times.progress if times is not None else None,
        time_left_s=times.time_left_s if times is not None else None,
        layers=layers_of(job),
        temps=temps_of(job.current_print.temps) if job is not None else [],
        seen_at=seen.reading.seen_at,
    )


def picture_of(view: LiveView, seen: SeenPrinter, at: datetime) -> Webcam:
    """Return its default camera, as successive pictures; none if the link may not show it."""
    if not view.shows_camera:
        return NO_WEBCAM
    live_id = view.link.live_id
    webcam = webcam_of(seen, 0, state_of(seen, at), still=True)
    is_live = webcam["state"] == "live"
    webcam["picture"] = f"/live/{live_id}/picture" if is_live else ""
    webcam["age"] = ""
    return webcam
