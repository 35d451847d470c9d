"""Probes: each tries a credential on something, and holds the answer against the model.

A probe raises Leak where something foreign came back or a foreign request reached an agent, and
Broken where what should work doesn't: without that, a service that refuses everything would pass.
"""

import base64
from dataclasses import dataclass
from typing import Final

from printreach.contract.permissions import Permission
from printreach.http1.fetch import FetchedAnswer
from printreach.rules.printers.members import Role
from printreach.wire.heads import Headers
from tests.fakes.hasty_loop import settle
from tests.isolation.walk.agents import word_of
from tests.isolation.walk.model import OF_RELAY, Key, Kind, Tenure
from tests.isolation.walk.world import PRINTERS, Broken, Leak, Reached, World, cookie_of
from tests.relay.scripted_agent import SERVICE_HOST, printer_id

COMMANDS: Final = "/service-command-api"
REFUSED: Final = frozenset({601, 603, 604, 605, 606})
_NEEDED: Final = {"control": Role.CONTROL, "settings": Role.OWNER}
"""By the last part of a path; others may be seen by who watches."""
GONE: Final = frozenset({303, 401, 404, 410})
"""How the service's own host says that something isn't there for whoever asks."""


@dataclass(frozen=True)
class Use:
    """A request to a printer's host. works_while_locked: though remote control is locked."""

    method: str
    path: str
    permission: Permission | None
    works_while_locked: bool = True


USES: Final = (
    Use("GET", "/any/page", Permission.INTERFACE, works_while_locked=False),
    Use("GET", f"{COMMANDS}/status", None),
    Use("GET", f"{COMMANDS}/webcam/snapshot", Permission.CAMERA),
    Use("GET", f"{COMMANDS}/files/list", Permission.FILES),
    Use("POST", f"{COMMANDS}/pause", Permission.CONTROL),
    Use("POST", f"{COMMANDS}/home", Permission.CONTROL, works_while_locked=False),
)


# --- printers' hosts ------------------------------------------------------------------------------


async def try_connection(world: World, key: Key) -> None:
    """Use a credential of a printer's host for something that it may do or not."""
    use = world.chance.choice(USES)
    answer, reached = await _ask_printer(world, key.host, proof_of(world, key), use)
    what = f"{use.method} {use.path} by {key}: {answer.status}"
    _check_reached(world, what, answer, reached, key.tenure)
    world.look(answer.body, what, key.person, key.tenure)
    if world.now() < key.unsure_until:
        return
    if _may(world, key, use):
        here = key.tenure is not None and world.is_here(key.tenure.printer)
        if answer.status != (200 if here else 601):
            raise Broken(f"{what}, though it may; the agent is {'here' if here else 'away'}")
    elif reached or answer.status not in REFUSED:
        raise Leak(f"{what}, though it may not")


async def try_wrong_key(world: World, key: Key) -> None:
    """Show one connection's proof to the host of another."""
    others = [one for one in world.model.of_kind(*OF_RELAY) if one.host != key.host]
    other = world.pick(others)
    if other is None:
        return
    use = world.chance.choice(USES)
    answer, reached = await _ask_printer(world, other.host, proof_of(world, key), use)
    if reached or answer.status not in REFUSED:
        raise Leak(f"{use.path} of {other} by {key}: {answer.status}")


def proof_of(world: World, key: Key) -> Headers:
    """What opens it, in one of the ways that there are."""
    match key.kind:
        case Kind.OWN_COOKIE | Kind.SHARED_COOKIE:
            return [
                (b"Cookie", f"__Host-printreach_own={key.secret}".encode()),
                (b"Sec-Fetch-Site", b"none"),
                (b"Origin", f"https://{key.host}".encode()),
            ]
        case _:
            if world.chance.random() < 0.5:
                return [(b"Authorization", f"Bearer {key.secret}".encode())]
            pair = base64.b64encode(key.more["pair"].encode())
            return [(b"Authorization", b"Basic " + pair)]


def _may(world: World, key: Key, use: Use) -> bool:
    is_locked = key.person.is_locked and not use.works_while_locked
    return world.is_good(key) and key.may(use.permission) and not is_locked


async def _ask_printer(
    world: World, host: str, proof: Headers, use: Use
) -> tuple[FetchedAnswer, list[Reached]]:
    """The answer, and what of it has reached agents."""
    mark = f"probe={world.next_number()}"
    answer = await world.ask(host, use.method, f"{use.path}?{mark}", proof)
    return answer, [one for one in arrived(world) if mark.encode() in one.asked.target]


def _check_reached(
    world: World, what: str, answer: FetchedAnswer, reached: list[Reached], tenure: Tenure | None
) -> None:
    for one in reached:
        is_unheard = one.tenure is None and world.may_not_know_yet(one)
        if tenure is None or not (one.tenure == tenure.number or is_unheard):
            raise Leak(f"{what}: it reached {one.printer} in tenure {one.tenure}")
    if answer.status == 200 and len(reached) != 1:
        raise Broken(f"{what}: it reached {len(reached)} agents")


def arrived(world: World) -> list[Reached]:
    """What has reached agents. Nothing may reach one whose printer is nobody's.

    What the service does by itself is looking alone: an order has somebody who gave it.
    """
    found = world.arrived()
    for one in found:
        if one.tenure is None and not world.may_not_know_yet(one):
            raise Leak(f"{one.asked.target!r} reached {one.printer}, which is nobody's")
    return found


# --- the service's own host -----------------------------------------------------------------------


async def try_session(world: World, session: Key) -> None:
    """Look at something with a browser, at one of everybody's printers."""
    match world.chance.randrange(8):
        case 0 | 1:
            await _see_list(world, session)
        case 2:
            await _see_printer(world, session, f"/printers/{_any_printer(world)}")
        case 3:
            await _see_printer(world, session, f"/printers/{_any_printer(world)}/webcam/still")
        case 4:
            await _see_printer(
                world, session, f"/printers/{_any_printer(world)}/history/prints.json"
            )
        case 5:
            await _see_printer(world, session, f"/printers/{_any_printer(world)}/webcam/last")
        case 6:
            await _see_own(world, session, "/activity/prints.json")
        case _:
            await _see_own(world, session, "/connections")


async def see_everything(world: World, session: Key) -> None:
    """All pages of everybody's printers, with one browser."""
    await _see_list(world, session)
    for path in ("/activity", "/connections", "/account", "/account/tokens"):
        await _see_own(world, session, path)
    await _see_own(world, session, "/notifications", shows_shared=True)
    for name in PRINTERS:
        for page in ("", "/control", "/history", "/webcam/still", "/webcam/last", "/settings"):
            await _see_printer(world, session, f"/printers/{printer_id(name)}{page}")
    for key in world.model.of_kind(Kind.APP, Kind.SHARED):
        await _see_own(world, session, f"/connections/{key.id}", owner=key)
    if not session.person.is_operator and world.is_good(session):
        answer = await world.page(session, "/operator/accounts")
        if answer.status != 404:
            raise Leak(f"a page of operators by {session}: {answer.status}")


async def order_by_form(world: World, session: Key) -> None:
    """Give a printer an order on the dashboard, one's own or another's."""
    name = world.chance.choice(PRINTERS)
    tenure = world.model.printers[name]
    answer = await world.send(session, f"/printers/{printer_id(name)}/pause", back="list")
    orders = [one for one in arrived(world) if one.asked.head.method == b"POST"]
    is_own = (
        tenure is not None and tenure.may(session.person, Role.CONTROL) and world.is_good(session)
    )
    what = f"pausing {name} by {session}: {answer.status}"
    if orders and not is_own:
        raise Leak(f"{what}: it reached {orders[0].printer}")
    is_sure = not world.service.bus.is_losing
    if is_sure and is_own and world.is_here(name) and [one.printer for one in orders] != [name]:
        raise Broken(f"{what}: it reached {[one.printer for one in orders]}")


async def _see_list(world: World, session: Key) -> None:
    answer = await _see_own(world, session, "/printers", shows_shared=True)
    own = world.model.seen_by(session.person)
    missing = [one for one in own if printer_id(one.printer).encode() not in answer.body]
    if world.is_good(session) and missing:
        raise Broken(f"{missing[0].printer} is not on the list that {session} sees")
    foreign = [one for one in world.model.owned() if one.role_of(session.person) is None]
    for one in foreign:
        if printer_id(one.printer).encode() in answer.body:
            raise Leak(f"{one.printer} is on the list that {session} sees")


async def _see_own(
    world: World,
    session: Key,
    path: str,
    owner: Key | None = None,
    *,
    shows_shared: bool = False,
) -> FetchedAnswer:
    """A page of one's own things. owner: of what it shows, where that may be another's."""
    answer = await world.page(session, path)
    what = f"{path} by {session}: {answer.status}"
    person = session.person if world.is_good(session) else None
    world.look(answer.body, what, person, shows_shared=shows_shared)
    is_own = owner is None or owner.person is session.person
    if not world.is_good(session):
        if answer.status not in (303, 401):
            raise Leak(f"{what}, though it is signed out")
    elif not is_own and answer.status not in GONE:
        raise Leak(f"{what}, though it is another account's")
    elif owner is None and answer.status != 200:
        raise Broken(what)
    return answer


async def _see_printer(world: World, session: Key, path: str) -> None:
    """Something of one printer: 200 for whom it is for, and as if it were not there for strangers.

    Who was let in is told what is for others.
    """
    name = next(one for one in PRINTERS if printer_id(one) in path)
    tenure = world.model.printers[name]
    answer = await world.page(session, path)
    what = f"{path} ({name}) by {session}: {answer.status}"
    is_signed_in = world.is_good(session)
    role = tenure.role_of(session.person) if tenure is not None else None
    needed = _NEEDED.get(path.rpartition("/")[2], Role.WATCH)
    is_own = tenure is not None and tenure.may(session.person, needed)
    person = session.person if is_signed_in else None
    world.look(answer.body, what, person, shows_shared=role is not None)
    is_picture = "/webcam/" in path
    if is_signed_in and is_own:
        is_sure = world.is_here(name) and not world.service.bus.is_losing
        expected = is_sure if path.endswith("/still") else not is_picture
        if expected and answer.status != 200:
            raise Broken(what)
    elif answer.status not in (GONE if role is None else GONE | {403}):
        raise Leak(f"{what}, though it is none of theirs")


def _any_printer(world: World) -> str:
    return printer_id(world.chance.choice(PRINTERS))


# --- apps, links and programs ---------------------------------------------------------------------


async def try_app_token(world: World, key: Key) -> None:
    """Ask the App API what it says of the printer."""
    token = (b"AppToken", key.more["token"].encode())
    answer = await world.ask(SERVICE_HOST, "GET", "/api/appconnection/info", [token])
    what = f"info by {key}: {answer.status}"
    found = world.look(answer.body, what, key.person, key.tenure)
    if not world.is_good(key):
        if answer.status == 200 or found:
            raise Leak(f"{what}, though it has ended")
    elif answer.status != 200 or not found:
        raise Broken(what)


async def try_live_link(world: World, key: Key) -> None:
    """Look at the page of a Live Link or its picture, as anybody does."""
    assert key.tenure is not None
    path = world.chance.choice(["", "/picture"])
    answer = await world.ask(SERVICE_HOST, "GET", f"/live/{key.secret}{path}", [])
    what = f"{path or 'page'} of {key}: {answer.status}"
    # What was known of the printer a moment ago may be from before its owner linked it anew.
    found = world.look(answer.body, what, key.person, shows_address=False)
    if world.now() < key.unsure_until:
        return
    if not world.is_good(key):
        if answer.status not in GONE:
            raise Leak(f"{what}, though it has ended")
    elif not path and answer.status != 200:
        raise Broken(what)
    elif not path and not found:
        raise Broken(f"{what}, without a name")


async def try_access_token(world: World, key: Key) -> None:
    """Begin to follow the account's events from the oldest, and read what is there."""
    headers = [*world.from_somewhere(), (b"Authorization", f"Bearer {key.secret}".encode())]
    fetcher = world.service.fetcher(SERVICE_HOST)
    async with fetcher.open(b"GET", b"/api/events?after=oldest", headers) as answer:
        what = f"events by {key}: {answer.status}"
        if not world.is_good(key):
            if answer.status == 200:
                raise Leak(f"{what}, though it has ended")
            return
        if answer.status == 429:
            return  # readers that have just left count until something is written to them
        if answer.status != 200:
            raise Broken(what)
        said = bytearray()
        chunks = answer.chunks()
        while not said:
            said += await anext(chunks)
        await settle()
        world.look(bytes(said), what, key.person)


async def try_to_resume(world: World, key: Key, event_id: str, owner: Tenure) -> None:
    """Go on behind an event that may be another account's."""
    headers: Headers = [*world.from_somewhere()]
    if key.kind is Kind.SESSION:
        headers.append(cookie_of(key))
    else:
        headers.append((b"Authorization", f"Bearer {key.secret}".encode()))
    target = f"/api/events?after={event_id}".encode()
    async with world.service.fetcher(SERVICE_HOST).open(b"GET", target, headers) as answer:
        if owner.person is not key.person and answer.status == 200:
            raise Leak(f"{key} goes on behind an event of {word_of(owner.number)}")


async def try_key(world: World, key: Key) -> None:
    """The probe of its kind."""
    match key.kind:
        case Kind.SESSION:
            if world.chance.random() < 0.3:
                await order_by_form(world, key)
            else:
                await try_session(world, key)
        case Kind.ACCESS_TOKEN:
            await try_access_token(world, key)
        case Kind.LIVE:
            await try_live_link(world, key)
        case Kind.OWN | Kind.TICKET:
            pass  # a ticket is used up by being tried: that is a step
        case _:
            await try_connection(world, key)
