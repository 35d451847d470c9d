"""The events of an account for its owner's programs: `GET /api/events`, also as a WebSocket."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from litestar import Response, WebSocket, get, websocket
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.exceptions import (
    HTTPException,
    NotAuthorizedException,
    TooManyRequestsException,
    WebSocketDisconnect,
)
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Operation
from litestar.params import HeaderParameter, QueryParameter
from litestar.response.sse import ServerSentEventMessage

from printreach.hub.accounts.sessions import Visitor
from printreach.hub.leases import Access, AccessEnded
from printreach.hub.prints.event_stream import (
    EventGone,
    EventStreams,
    StreamedEvent,
    TooManyStreams,
)
from printreach.rules.accounts.access_tokens import Scope
from printreach.web import disconnects
from printreach.web.cookies import SESSION, Cookies
from printreach.web.disconnects import sse_response
from printreach.web.problems import AnyRequest, Problem, described_failures
from printreach.web.routing import DeclaredRouter
from printreach.web.services import Services
from printreach.web.signed_in import raise_if_too_soon

_log = logging.getLogger(__name__)

READERS_SCHEME: Final = "AccessToken"
"""The name in the OpenAPI document of how a program proves whose it is."""
HEARTBEAT_S: Final = 15.0
"""Interval of heartbeats to a reader."""
MAX_STREAM_S: Final = 3600.0
"""After this time the reader reconnects and continues from its last event."""
_GONE: Final = (
    "That event isn't kept any more, or never was one of yours. Begin without it, or with"
    " after=oldest."
)
_UNKNOWN: Final = f"This needs a token with the scope {Scope.READ_EVENTS.value}, or a sign-in."
_MANY: Final = "So many streams are open already. Close one first."
_WEBSOCKET_CODES: Final = 4000

Connection = ASGIConnection[Any, Any, Any, Any]
After = Annotated[
    str | None,
    QueryParameter(
        description="The EventId of the last event that the reader has; 'oldest' for all that are"
        " kept. Without it the stream begins now."
    ),
]
LastEventId = Annotated[
    str | None,
    HeaderParameter(name="Last-Event-ID", description="As after; browsers send it by themselves."),
]


@dataclass
class _NeedsToken(Operation):
    """Documents that a token is required, or a sign-in of the same browser."""

    def __post_init__(self) -> None:
        self.security = [{READERS_SCHEME: []}]


class _Refused(HTTPException):
    """A refusal of both kinds of stream."""


@get(
    "/api/events",
    middleware=[disconnects.ends_slow_readers],
    media_type="text/event-stream",
    operation_class=_NeedsToken,
    responses={
        **described_failures(400, 429),
        401: ResponseSpec(
            Problem,
            generate_examples=False,
            description="No token, or one without the scope events:read",
        ),
        410: ResponseSpec(
            Problem,
            generate_examples=False,
            description="The event of `after` is not kept any more",
        ),
    },
)
async def event_stream(
    request: AnyRequest,
    services: NamedDependency[Services],
    jar: NamedDependency[Cookies],
    after: After = None,
    last_event_id: LastEventId = None,
) -> Response[Any]:
    """Stream the events of all printers of the account, as they happen, as server-sent events."""
    reader = await _reader(request, services, jar)
    streams = services.event_streams
    start_id = last_event_id or after or await streams.now(reader.account_id)
    events = services.leases.pieces(reader, await _opened(streams, reader, start_id))
    return sse_response(_messages(events, start_id), {"Cache-Control": "no-store"})


@websocket("/api/events")
async def event_socket(
    socket: WebSocket[Any, Any, Any],
    services: NamedDependency[Services],
    jar: NamedDependency[Cookies],
    after: After = None,
) -> None:
    """Stream the same, one text message an event; a refusal is a message, too, then a close."""
    await socket.accept()
    try:
        reader = await _reader(socket, services, jar)
        start_id = after or await services.event_streams.now(reader.account_id)
        events = services.leases.pieces(
            reader, await _opened(services.event_streams, reader, start_id)
        )
    except HTTPException as refused:
        problem = Problem(status=refused.status_code, error=refused.detail)
        await socket.send_text(msgspec.json.encode(problem).decode())
        await socket.close(_WEBSOCKET_CODES + refused.status_code, refused.detail[:100])
        return
    try:
        has_ended = await _followed(socket, events, start_id)
    except Exception:  # noqa: BLE001  # whatever it was, the reader hears of it and we log it
        _log.exception("a stream of events failed")
        await socket.close(_WEBSOCKET_CODES + 500, "The service failed here. Ask again.")
        return
    if has_ended:
        await socket.close(_WEBSOCKET_CODES + 1, "Ask again, from the last event that you have.")


# --- the reader
# ------------------------------------------------------------------------------------


async def _reader(connection: Connection, services: Services, jar: Cookies) -> Access:
    """Authenticate the reader. Raises NotAuthorizedException and TooManyRequestsException."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    given = token.strip() if scheme.lower() == "bearer" else None
    session = None if given else jar.read(connection.headers.get("cookie", ""), SESSION)
    client = connection.client
    visitor = Visitor(
        address=client.host if client is not None else "",
        browser=connection.headers.get("user-agent", ""),
    )
    identified = await _account_and_credential(services, given, session, visitor)
    if identified is None:
        raise NotAuthorizedException(_UNKNOWN, headers={"WWW-Authenticate": "Bearer"})
    account_id, credential_id = identified
    raise_if_too_soon(await services.request_limits.take(account_id, credential_id))
    return Access(account_id=account_id, visitor=visitor, token=given, session=session)


async def _account_and_credential(
    services: Services, token: str | None, session: str | None, visitor: Visitor
) -> tuple[str, str] | None:
    """Return the account whose events may be read, and the id of the token or session that allows
    it.
    """
    if token:
        found_token = await services.access_tokens.look_up(token, Scope.READ_EVENTS)
        return None if found_token is None else (found_token.account_id, found_token.token_id)
    if session:
        signed_in = await services.sessions.look_up(session, visitor)
        return None if signed_in is None else (signed_in[0].account_id, signed_in[1].session_id)
    return None


async def _opened(
    streams: EventStreams, reader: Access, after: str | None
) -> AsyncGenerator[StreamedEvent | None, None]:
    try:
        return await streams.open(reader.account_id, after or None)
    except EventGone:
        raise _Refused(_GONE, status_code=410) from None
    except TooManyStreams:
        raise TooManyRequestsException(_MANY, headers={"Retry-After": "60"}) from None


# --- the stream ---------------------------------------------------------------------------------


async def _with_heartbeats(
    events: AsyncGenerator[StreamedEvent | None, None],
) -> AsyncGenerator[StreamedEvent | None, None]:
    """Yield the events, and None for each heartbeat, until the access ends."""
    loop = asyncio.get_running_loop()
    ends_at, heartbeat_at = loop.time() + MAX_STREAM_S, loop.time()
    with suppress(AccessEnded):
        async with aclosing(events):
            yield None
            async for event in events:
                now = loop.time()
                if now >= heartbeat_at + HEARTBEAT_S:
                    heartbeat_at = now
                    if now >= ends_at:
                        return
                    yield None
                if event is not None:
                    yield event


async def _messages(
    events: AsyncGenerator[StreamedEvent | None, None], start_id: str
) -> AsyncGenerator[ServerSentEventMessage, None]:
    """Format the stream.

    start_id: the event before the first one. The first heartbeat carries it, in case no event
    comes.
    """
    unsent_start_id: str | None = start_id
    async with aclosing(_with_heartbeats(events)) as beating:
        async for event in beating:
            if event is None:
                yield ServerSentEventMessage(data=None, comment="beat", id=unsent_start_id)
                unsent_start_id = None
            else:
                yield ServerSentEventMessage(
                    event="event", id=event.event_id, data=event.body.decode()
                )


async def _followed(
    socket: WebSocket[Any, Any, Any],
    events: AsyncGenerator[StreamedEvent | None, None],
    start_id: str,
) -> bool:
    """Send all until the reader leaves or the stream ends; True if it ended and is to be closed.

    The caller closes it, since the server sends no close while the socket is being read. Raises
    what failed while the reader was there.
    """
    leaving = asyncio.create_task(_until_left(socket))
    sending = asyncio.create_task(_send_all(socket, events, start_id))
    try:
        done, _ = await asyncio.wait([leaving, sending], return_when=asyncio.FIRST_COMPLETED)
        return sending.result() if done == {sending} else False
    finally:
        for task in (leaving, sending):
            task.cancel()
        await asyncio.gather(leaving, sending, return_exceptions=True)


async def _send_all(
    socket: WebSocket[Any, Any, Any],
    events: AsyncGenerator[StreamedEvent | None, None],
    start_id: str,
) -> bool:
    """Send all; False if the reader is too slow. start_id: the event before the first one,
    sent as a heartbeat.
    """
    heartbeat = msgspec.json.encode({"After": start_id})
    async with aclosing(_with_heartbeats(events)) as beating:
        async for event in beating:
            text = (heartbeat if event is None else event.body).decode()
            heartbeat = b"{}" if event is None else heartbeat
            try:
                async with asyncio.timeout(disconnects.SENT_WITHIN_S):
                    await socket.send_text(text)
            except TimeoutError:
                return False  # it would not take a close either
    return True


async def _until_left(socket: WebSocket[Any, Any, Any]) -> None:
    """Discard what the reader sends until it leaves."""
    try:
        while True:
            await socket.receive_data(mode="text")
    except WebSocketDisconnect:
        return


EVENT_STREAM_API = DeclaredRouter("/", route_handlers=[event_stream, event_socket], tags=["Events"])
