"""What happens to people whom an owner lets in to a printer: they come, change and go."""

from printreach.hub.printers.members import MadeInvitation
from printreach.rules.accounts import Account
from printreach.rules.printers.members import ROLES_OF_MEMBERS
from tests.isolation.walk.model import Kind, Person, Tenure
from tests.isolation.walk.world import Broken, Leak, World
from tests.relay.scripted_agent import printer_id


async def let_in(world: World) -> None:
    """The owner invites, and a person accepts, in a browser; by a link, or for their address."""
    tenure = world.pick(world.model.owned())
    session = world.pick(world.good(Kind.SESSION))
    if tenure is None or session is None or session.person is tenure.person:
        return
    role = world.chance.choice(ROLES_OF_MEMBERS)
    email = world.chance.choice([None, session.person.email])
    made = await _invited(world, tenure, role.value, email)
    if made is None:
        return
    token = made.link.partition("token=")[2]
    answer = await world.send(session, "/shared", token=token, answer="accept")
    is_let_in = answer.status == 303
    if is_let_in == tenure.person.is_blocked:
        raise (Leak if is_let_in else Broken)(
            f"{session} accepts {tenure.printer}: {answer.status}"
        )
    if is_let_in and (email is not None or session.person not in tenure.members):
        tenure.members[session.person] = role
        tenure.ever_members.add(session.person)


async def accept_anothers(world: World) -> None:
    """A browser shows an invitation that is for the address of somebody else."""
    tenure, session = world.pick(world.model.owned()), world.pick(world.good(Kind.SESSION))
    if tenure is None or session is None or session.person is tenure.person:
        return
    made = await _invited(world, tenure, "control", "nobody@example.org")
    if made is None:
        return
    token = made.link.partition("token=")[2]
    answer = await world.send(session, "/shared", token=token, answer="accept")
    if answer.status != 400:
        raise Leak(f"{session} accepts another's invitation: {answer.status}")


async def change_member(world: World) -> None:
    """The owner gives somebody another role."""
    found = _some_member(world)
    if found is None:
        return
    tenure, person = found
    role = world.chance.choice(ROLES_OF_MEMBERS)
    members = world.service.services.members
    await members.change_role(
        tenure.person.account_id, printer_id(tenure.printer), person.account_id, role
    )
    tenure.members[person] = role


async def end_member(world: World) -> None:
    """The owner ends somebody's access, or they leave."""
    found = _some_member(world)
    if found is None:
        return
    tenure, person = found
    members, printer = world.service.services.members, printer_id(tenure.printer)
    if world.chance.random() < 0.5:
        await members.end(tenure.person.account_id, printer, person.account_id)
    else:
        await members.leave(person.account_id, printer)
    del tenure.members[person]


async def manage_anothers(world: World) -> None:
    """A browser sends the forms by which owners let people in and end their access."""
    tenure, session = world.pick(world.model.owned()), world.pick(world.good(Kind.SESSION))
    if tenure is None or session is None or session.person is tenure.person:
        return
    base = f"/printers/{printer_id(tenure.printer)}/people"
    whom = world.pick(world.model.people)
    path = world.chance.choice([base, f"{base}/{whom.account_id if whom else ''}/end"])
    answer = await world.send(session, path, role="control", uses="1", email="")
    if answer.status not in (403, 404):
        raise Leak(f"{path} of {tenure.printer} by {session}: {answer.status}")


async def _invited(
    world: World, tenure: Tenure, role: str, email: str | None
) -> MadeInvitation | None:
    """An invitation of the owner's; None where there have been enough of late."""
    services = world.service.services
    owner = await services.accounts.get(tenure.person.account_id)
    assert isinstance(owner, Account)
    given = next(one for one in ROLES_OF_MEMBERS if one.value == role)
    made = await services.members.invite(owner, printer_id(tenure.printer), given, email)
    return made if isinstance(made, MadeInvitation) else None


def _some_member(world: World) -> tuple[Tenure, Person] | None:
    """Somebody who was let in; a blocked owner can't change anything."""
    return world.pick(
        (tenure, person)
        for tenure in world.model.owned()
        if not tenure.person.is_blocked
        for person in tenure.members
    )
