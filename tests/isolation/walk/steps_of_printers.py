"""What happens to printers: linked and removed, their agents, and every way to them made and ended.

A step that has nothing to act on does nothing, so any part of a walk is a walk.
"""

import html
import re
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qs, urlsplit

from printreach.contract import signin
from printreach.contract.permissions import Permission
from printreach.hub.connections import Shared
from printreach.hub.connections.live_links import LiveWish
from printreach.hub.connections.own import LIFETIMES
from printreach.rules.connections.live_links import LiveLink
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import Printer
from tests.fakes.hasty_loop import settle
from tests.isolation.walk.agents import word_of
from tests.isolation.walk.model import Key, Kind, Tenure
from tests.isolation.walk.probes import GONE
from tests.isolation.walk.steps_of_accounts import MAX_OF_A_KIND, cookie_in
from tests.isolation.walk.world import APP, PRINTERS, Broken, Leak, World
from tests.relay.scripted_agent import printer_id

COOKIE: Final = b"__Host-printreach_own"
COOKIE_LIFETIME: Final = timedelta(hours=12)
SHARED_COOKIE_LIFETIME: Final = timedelta(days=7)
TICKET_LIFETIME: Final = timedelta(minutes=10)
_TOKEN: Final = re.compile(r'name="token" value="([^"]+)"')


# --- whose they are -------------------------------------------------------------------------------


async def link(world: World) -> None:
    """Somebody enters the code that an agent shows, in a browser where there is one."""
    printer = world.pick(one for one in PRINTERS if world.model.printers[one] is None)
    people = [one for one in world.model.people if not one.is_blocked]
    person = world.pick(people)
    if printer is None or person is None or world.service.bus.is_losing:
        return
    agent = await world.connect_agent(printer)  # for a code of now
    code = await agent.hear(signin.LinkOffer)
    name = word_of(len(world.model.tenures) + 1)
    session = world.pick(one for one in world.good(Kind.SESSION) if one.person is person)
    if session is not None:
        answer = await world.send(session, "/link", code=code.link_code, name=name)
        if answer.status != 303:
            raise Broken(f"{session} can't link {printer}: {answer.status}")
    else:
        printers = world.service.services.printers
        assert isinstance(await printers.link(code.link_code, person.email, name), Printer)
    world.model.begin_tenure(printer, person)
    await settle()
    if not any(isinstance(said, signin.Linked) for said in agent.heard):
        raise Broken(f"the agent of {printer} did not hear that it is linked")


async def remove(world: World) -> None:
    """The owner removes a printer, in a browser where there is one; its connections end."""
    tenure = world.pick(world.model.owned())
    if tenure is None:
        return
    session = world.pick(one for one in world.good(Kind.SESSION) if one.person is tenure.person)
    world.unsettle(tenure=tenure)
    if session is not None:
        path = f"/printers/{printer_id(tenure.printer)}/remove"
        answer = await world.send(session, path)
        if answer.status != 303:
            raise Broken(f"{session} can't remove {tenure.printer}: {answer.status}")
    else:
        await world.service.services.printers.remove(printer_id(tenure.printer))
    world.model.end_tenure(tenure, world.now())


async def remove_anothers(world: World) -> None:
    """A browser sends the form that removes a printer of somebody else."""
    session, tenure = world.pick(world.good(Kind.SESSION)), world.pick(world.model.owned())
    if session is None or tenure is None or tenure.person is session.person:
        return
    path = f"/printers/{printer_id(tenure.printer)}/remove"
    answer = await world.send(session, path)
    # Who was let in is told that it is for the owner alone.
    refusals = GONE - {303} | ({403} if tenure.role_of(session.person) else set[int]())
    if answer.status not in refusals:
        raise Leak(f"{session} removes {tenure.printer} of person {tenure.person.number}")


async def remove_and_link_anew(world: World) -> None:
    """At once, with what is open and remembered of the tenure before: most is at stake here."""
    await remove(world)
    await link(world)


async def rename(world: World) -> None:
    session, tenure = world.pick(world.good(Kind.SESSION)), world.pick(world.model.owned())
    if session is None or tenure is None:
        return
    path = f"/printers/{printer_id(tenure.printer)}/settings"
    name = f"{word_of(tenure.number)} {world.next_number()}"
    answer = await world.send(session, path, name=name)
    is_own = tenure.person is session.person
    if (answer.status == 303) != is_own:
        raise (Broken if is_own else Leak)(f"{session} renames {tenure.printer}: {answer.status}")


# --- agents ---------------------------------------------------------------------------------------


async def connect_agent(world: World) -> None:
    """For the first time, again, or a second one with the same key."""
    await world.connect_agent(world.chance.choice(PRINTERS))


async def disconnect_agent(world: World) -> None:
    name = world.pick(one for one in PRINTERS if world.is_here(one))
    for agent in world.agents_of(name) if name is not None else []:
        agent.leave()


# --- connections ----------------------------------------------------------------------------------


async def connect_app(world: World) -> None:
    """An app gets a connection, as the portal makes it."""
    tenure = world.pick(world.model.owned())
    if tenure is None or _has_enough(world, tenure, Kind.APP):
        return
    connections = world.service.services.connections
    made = await connections.add_for_app(APP, printer_id(tenure.printer))
    assert isinstance(made, Completion), made
    secrets = made.secrets
    pair = f"{secrets.basic_user}:{secrets.basic_password}"
    bearer, token = secrets.bearer_token, secrets.app_api_token
    _add_app(world, tenure, made.connection_id, made.url, bearer, pair, token)


async def share(world: World) -> None:
    tenure = world.pick(world.model.owned())
    if tenure is None or _has_enough(world, tenure, Kind.SHARED):
        return
    hours = world.chance.choice(["1", "24"])
    own = world.service.services.own_connections
    made = await own.share(tenure.person.account_id, printer_id(tenure.printer), hours)
    assert isinstance(made, Shared), made
    secrets = made.secrets
    world.add_key(
        Key(
            number=world.next_number(),
            kind=Kind.SHARED,
            person=tenure.person,
            tenure=tenure,
            id=made.connection.connection_id,
            host=urlsplit(made.url).netloc,
            secret=secrets.bearer_token,
            more={
                "pair": f"{secrets.basic_user}:{secrets.basic_password}",
                "link": urlsplit(made.link).path + "?" + urlsplit(made.link).query,
            },
            expires_at=world.clock.now() + LIFETIMES[hours],
        )
    )


async def share_anothers(world: World) -> None:
    """A browser asks to share a printer of somebody else, or to show it by a Live Link."""
    session, tenure = world.pick(world.good(Kind.SESSION)), world.pick(world.model.owned())
    if session is None or tenure is None or tenure.person is session.person:
        return
    path = world.chance.choice(["/connections/share", "/connections/live"])
    answer = await world.send(session, path, printer=printer_id(tenure.printer), ends="24")
    if answer.status != 400:
        raise Leak(f"{path} of {tenure.printer} by {session}: {answer.status}")
    world.look(answer.body, path, session.person)


async def open_share(world: World) -> None:
    """A guest's browser is signed in by the link of a Shared Connection."""
    key = world.pick(world.model.of_kind(Kind.SHARED))
    if key is None or _children(world, key) >= MAX_OF_A_KIND:
        return
    answer = await world.ask(key.host, "GET", key.more["link"], [(b"Sec-Fetch-Site", b"none")])
    secret = cookie_in(answer.headers, COOKIE)
    if world.is_good(key) != bool(secret) and world.now() >= key.unsure_until:
        raise (Broken if world.is_good(key) else Leak)(f"link of {key}: {answer.status}")
    if secret:
        lifetime = SHARED_COOKIE_LIFETIME
        _add_cookie(world, Kind.SHARED_COOKIE, (key,), secret, lifetime)


async def open_own(world: World) -> None:
    """A browser asks for the printer's own interface, of its own account or another's."""
    session, tenure = world.pick(world.good(Kind.SESSION)), world.pick(world.model.owned())
    if session is None or tenure is None:
        return
    answer = await world.send(session, f"/printers/{printer_id(tenure.printer)}/open")
    found = re.search(rb'https://(own-[a-z0-9.-]+)(/[^"\s<]*ticket=[^"\s<]+)', answer.body)
    if (found is not None) != (tenure.person is session.person):
        is_own = tenure.person is session.person
        raise (Broken if is_own else Leak)(f"opening {tenure.printer}: {answer.status}")
    if found is None:
        return
    host, target = found[1].decode(), html.unescape(found[2].decode())
    own = next((one for one in world.good(Kind.OWN) if one.host == host), None)
    if own is None:
        own = world.add_key(
            Key(
                number=world.next_number(),
                kind=Kind.OWN,
                person=tenure.person,
                tenure=tenure,
                host=host,
            )
        )
    world.add_key(
        Key(
            number=world.next_number(),
            kind=Kind.TICKET,
            person=tenure.person,
            tenure=tenure,
            host=host,
            secret=target,
            parents=(own, session),
            expires_at=world.clock.now() + TICKET_LIFETIME,
        )
    )


async def use_ticket(world: World) -> None:
    """A browser follows the link that works once; used up, it opens nothing."""
    ticket = world.pick(world.model.of_kind(Kind.TICKET))
    if ticket is None:
        return
    own = ticket.parents[0]
    answer = await world.ask(ticket.host, "GET", ticket.secret, [(b"Sec-Fetch-Site", b"none")])
    secret = cookie_in(answer.headers, COOKIE)
    is_good = world.is_good(ticket)
    if is_good != bool(secret):
        raise (Broken if is_good else Leak)(f"{ticket}: {answer.status}")
    if secret:
        ticket.has_ended = True
        _add_cookie(world, Kind.OWN_COOKIE, (own, ticket.parents[1]), secret, COOKIE_LIFETIME)


async def permit(world: World) -> None:
    """Change what a connection may do, of one's own account or, by its id, of another's."""
    session = world.pick(world.good(Kind.SESSION))
    key = world.pick(world.good(Kind.APP, Kind.SHARED))
    if session is None or key is None:
        return
    permissions = frozenset(one for one in Permission if world.chance.random() < 0.6)
    world.unsettle(tenure=key.tenure)
    path, ticks = f"/connections/{key.id}/permissions", {one.value: "yes" for one in permissions}
    answer = await world.send(session, path, choice="ticked", **ticks)
    is_own = key.person is session.person
    if (answer.status == 303) != is_own:
        raise (Broken if is_own else Leak)(f"{session} changes {key}: {answer.status}")
    if is_own:
        key.permissions = permissions


async def revoke(world: World) -> None:
    """End a connection or a Live Link, of one's own account or, by its id, of another's."""
    session = world.pick(world.good(Kind.SESSION))
    key = world.pick(world.good(Kind.APP, Kind.SHARED, Kind.LIVE))
    if session is None or key is None:
        return
    world.unsettle(tenure=key.tenure)
    is_live, is_own = key.kind is Kind.LIVE, key.person is session.person
    path = f"/connections/live/{key.secret}/end" if is_live else f"/connections/{key.id}/end"
    answer = await world.send(session, path)
    if (answer.status == 303) != is_own:
        raise (Broken if is_own else Leak)(f"{session} ends {key}: {answer.status}")
    if is_own:
        key.has_ended = True


# --- Live Links -----------------------------------------------------------------------------------


async def make_live_link(world: World) -> None:
    """It shows names, so that the page says whose it is."""
    tenure = world.pick(world.model.owned())
    if tenure is None or _has_enough(world, tenure, Kind.LIVE):
        return
    live_links = world.service.services.live_links
    wish = LiveWish(hours=world.chance.choice([1, 24]), shows_names=True)
    made = await live_links.make(tenure.person.account_id, printer_id(tenure.printer), wish)
    assert isinstance(made, LiveLink), made
    world.add_key(
        Key(
            number=world.next_number(),
            kind=Kind.LIVE,
            person=tenure.person,
            tenure=tenure,
            secret=made.live_id,
            expires_at=made.expires_at,
        )
    )


# --- the portal -----------------------------------------------------------------------------------


async def go_through_portal(world: World) -> None:
    """A person gives an app one of the printers; between the pages something else may happen."""
    session, printer = world.pick(world.good(Kind.SESSION)), world.chance.choice(PRINTERS)
    if session is None:
        return
    target = f"/appportal/v1?appId={APP}&printerId={printer_id(printer)}"
    begun = await world.send(session, target)
    flow = next((value for key, value in begun.headers if key.lower() == b"location"), b"").decode()
    browser = cookie_in(begun.headers, b"__Host-printreach_portal")
    if begun.status != 303 or not browser:
        raise Broken(f"the portal does not begin: {begun.status}")
    visitor = Key(
        number=0,
        kind=Kind.SESSION,
        person=session.person,
        secret=f"{session.secret}; __Host-printreach_portal={browser}",
    )
    page = await world.page(visitor, flow)
    world.look(page.body, f"the portal for {session}", session.person)
    token = _TOKEN.search(page.body.decode())
    if world.chance.random() < 0.5:
        await world.chance.choice([remove_and_link_anew, remove])(world)
    if token is None:
        return
    tenure = world.model.printers[printer]
    is_full = tenure is not None and _has_enough(world, tenure, Kind.APP)
    fields = {"token": token[1], "printer": printer_id(printer)}
    answer = await world.send(visitor, f"{flow}/allow", **fields)
    world.look(answer.body, f"the portal's end for {session}", session.person)
    made = _completion(answer.body)
    if made is None:
        return
    if tenure is None or tenure.person is not session.person:
        raise Leak(f"the portal gives {printer} to the app of {session}")
    if not is_full:
        pair = f"{made['authBasicHttpUser']}:{made['authBasicHttpPassword']}"
        app_token, bearer = made["appApiToken"], made["authBearerToken"]
        _add_app(world, tenure, made["id"], made["url"], bearer, pair, app_token)


# --- helpers --------------------------------------------------------------------------------------


def _completion(body: bytes) -> dict[str, str] | None:
    """What the app is told, where it is told of a connection."""
    found = re.search(r'href="([^"]*appApiToken=[^"]*)"', body.decode())
    if found is None:
        return None
    query = parse_qs(urlsplit(html.unescape(found[1])).query)
    return {name: values[0] for name, values in query.items()}


def _add_app(
    world: World, tenure: Tenure, connection_id: str, url: str, bearer: str, pair: str, token: str
) -> None:
    world.add_key(
        Key(
            number=world.next_number(),
            kind=Kind.APP,
            person=tenure.person,
            tenure=tenure,
            id=connection_id,
            host=urlsplit(url).netloc,
            secret=bearer,
            more={"pair": pair, "token": token},
        )
    )


def _add_cookie(
    world: World, kind: Kind, parents: tuple[Key, ...], secret: str, lifetime: timedelta
) -> None:
    connection = parents[0]
    world.add_key(
        Key(
            number=world.next_number(),
            kind=kind,
            person=connection.person,
            tenure=connection.tenure,
            host=connection.host,
            secret=secret,
            parents=parents,
            expires_at=world.clock.now() + lifetime,
        )
    )


def _has_enough(world: World, tenure: Tenure, kind: Kind) -> bool:
    return sum(one.tenure is tenure for one in world.good(kind)) >= MAX_OF_A_KIND


def _children(world: World, key: Key) -> int:
    return sum(key in one.parents and world.is_good(one) for one in world.model.keys)
