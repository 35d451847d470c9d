"""What people and operators do with accounts: sign in and out, block, lock, grant, make tokens."""

from datetime import timedelta
from typing import Final

from printreach.hub.accounts.access_tokens import MadeToken
from printreach.hub.accounts.sessions import Visitor
from printreach.rules.accounts import Account
from printreach.rules.accounts.access_tokens import Scope
from printreach.rules.operators import COMMAND_LINE
from printreach.wire.heads import Headers
from tests.isolation.walk.model import Key, Kind, Person
from tests.isolation.walk.world import Broken, Leak, World

MAX_OF_A_KIND: Final = 4
"""Living credentials of a kind that one person or one printer has."""
IDLE: Final = timedelta(days=30)


async def sign_in(world: World) -> None:
    """With the password of now, in a browser of its own."""
    person = world.chance.choice(world.model.people)
    if sum(one.person is person for one in world.good(Kind.SESSION)) >= MAX_OF_A_KIND:
        return
    answer = await world.send(
        None, "/signin", email=person.email, password=person.password, next="/"
    )
    token = cookie_in(answer.headers, b"__Host-printreach_session")
    if person.is_blocked:
        if token:
            raise Leak(f"person {person.number} is blocked, and is signed in")
        return
    if not token:
        raise Broken(f"person {person.number} can't sign in: {answer.status}")
    sessions = world.service.services.sessions
    found = await sessions.look_up(token, Visitor(address="", browser=""))
    assert found is not None, "a browser has just signed in"
    world.add_key(
        Key(
            number=world.next_number(),
            kind=Kind.SESSION,
            person=person,
            id=found[1].session_id,
            secret=token,
            expires_at=world.clock.now() + IDLE,
        )
    )


async def sign_in_with_an_old_password(world: World) -> None:
    """A password that was changed opens nothing."""
    person = world.chance.choice(world.model.people)
    answer = await world.send(
        None, "/signin", email=person.email, password="a password of before", next="/"
    )
    if cookie_in(answer.headers, b"__Host-printreach_session"):
        raise Leak(f"person {person.number} is signed in by a wrong password")


async def sign_out(world: World) -> None:
    session = world.pick(world.good(Kind.SESSION))
    if session is None:
        return
    world.unsettle(person=session.person)
    await world.send(session, "/signout")
    session.has_ended = True


async def end_a_session_elsewhere(world: World) -> None:
    """One browser ends another, of its own account or, by its id, of somebody else's."""
    session, other = world.pick(world.good(Kind.SESSION)), world.pick(world.good(Kind.SESSION))
    if session is None or other is None:
        return
    world.unsettle(person=session.person)
    await world.send(session, "/account/sessions/end", session=other.id)
    if other.person is session.person:
        other.has_ended = True


async def change_password(world: World) -> None:
    """Every other browser is signed out."""
    session = world.pick(world.good(Kind.SESSION))
    if session is None:
        return
    person = session.person
    new = f"a long enough passphrase {world.next_number()}"
    world.unsettle(person=person)
    fields = {"old-password": person.password, "new-password": new}
    answer = await world.send(session, "/account/password", **fields)
    if answer.status != 303:
        raise Broken(f"{session} can't change the password: {answer.status}")
    person.password = new
    for one in world.model.of_kind(Kind.SESSION):
        if one.person is person and one is not session:
            one.has_ended = True


async def block(world: World) -> None:
    """An operator blocks somebody: the browsers are signed out, all else rests."""
    person = world.pick(one for one in world.model.people if not one.is_blocked)
    if person is None:
        return
    world.unsettle(person=person)
    operating = world.service.services.operating
    done = await operating.set_blocked(person.email, blocked=True, by=COMMAND_LINE)
    assert isinstance(done, Account), done
    person.is_blocked = True
    _note_operator(world, person)
    for session in world.model.of_kind(Kind.SESSION):
        if session.person is person:
            session.has_ended = True


async def unblock(world: World) -> None:
    person = world.pick(one for one in world.model.people if one.is_blocked)
    if person is None:
        return
    world.unsettle(person=person)
    operating = world.service.services.operating
    await operating.set_blocked(person.email, blocked=False, by=COMMAND_LINE)
    person.is_blocked = False


async def lock(world: World) -> None:
    """Stop everything, and lock remote control: by the owner, or by an operator."""
    person = world.pick(one for one in world.model.people if not one.is_locked)
    if person is None:
        return
    world.unsettle(person=person)
    session = world.pick(one for one in world.good(Kind.SESSION) if one.person is person)
    if session is not None:
        answer = await world.send(session, "/stop-everything")
        if answer.status != 303:
            raise Broken(f"{session} can't stop everything: {answer.status}")
        reached = {one.tenure for one in world.arrived() if one.asked.head.method == b"POST"}
        own = {one.number for one in world.model.owned(person)}
        if not reached <= own:
            raise Leak(f"{session} stopped printers of tenures {reached - own}")
    else:
        operating = world.service.services.operating
        await operating.set_locked(person.email, locked=True, by=COMMAND_LINE)
    person.is_locked = True


async def unlock(world: World) -> None:
    person = world.pick(one for one in world.model.people if one.is_locked)
    if person is None:
        return
    world.unsettle(person=person)
    operating = world.service.services.operating
    await operating.set_locked(person.email, locked=False, by=COMMAND_LINE)
    person.is_locked = False


async def change_supporter_status(world: World) -> None:
    """Lost or regained: only supporters have App Connections here."""
    person = world.chance.choice(world.model.people)
    world.unsettle(person=person)
    accounts = world.service.services.accounts
    await accounts.set_supporter(person.email, granted=not person.is_supporter)
    person.is_supporter = not person.is_supporter


async def change_operator(world: World) -> None:
    """Home Assistant hears of operators' printers alone."""
    person = world.chance.choice(world.model.people)
    operating = world.service.services.operating
    is_admin = not person.is_operator
    await operating.set_admin(person.email, is_admin=is_admin, by=COMMAND_LINE)
    _note_operator(world, person)
    person.is_operator = is_admin


async def make_access_token(world: World) -> None:
    person = world.chance.choice(world.model.people)
    if sum(one.person is person for one in world.good(Kind.ACCESS_TOKEN)) >= MAX_OF_A_KIND:
        return
    tokens = world.service.services.access_tokens
    made = await tokens.make(person.account_id, "Program", [Scope.READ_EVENTS.value])
    if isinstance(made, MadeToken):
        world.add_key(
            Key(
                number=world.next_number(),
                kind=Kind.ACCESS_TOKEN,
                person=person,
                id=made.token.token_id,
                secret=made.secret,
            )
        )


async def end_access_token(world: World) -> None:
    """By a browser, of its own account or, by its id, of somebody else's."""
    session, token = world.pick(world.good(Kind.SESSION)), world.pick(world.good(Kind.ACCESS_TOKEN))
    if session is None or token is None:
        return
    await world.send(session, f"/account/tokens/{token.id}/end")
    if token.person is session.person:
        token.has_ended = True


async def ask_for_notifications(world: World) -> None:
    """By mail, and where messages go that carry the number of the account."""
    session = world.pick(world.good(Kind.SESSION))
    if session is None:
        return
    services, person = world.service.services, session.person
    account = next(one for one in await services.accounts.all() if one.email == person.email)
    chosen = await services.notifications.chosen(person.account_id)
    if len(chosen.destinations) < MAX_OF_A_KIND:
        await services.notifications.add(account, "ntfy", {"topic": f"person-{person.number}"})


def _note_operator(world: World, person: Person) -> None:
    if person.is_operator:
        person.operator_until = world.now()


def cookie_in(headers: Headers, name: bytes) -> str:
    """The value of a cookie that an answer sets; empty where it sets none."""
    for key, value in headers:
        if key.lower() == b"set-cookie" and value.startswith(name + b"="):
            return value.partition(b";")[0].partition(b"=")[2].decode()
    return ""
