"""What leaves the service by itself: mails, messages, webhooks, and what Home Assistant is told."""

import re
from typing import Final

from tests.fakes.hasty_loop import settle
from tests.isolation.walk.agents import WORD
from tests.isolation.walk.home import TOPICS
from tests.isolation.walk.model import Kind
from tests.isolation.walk.world import PRINTERS, Broken, Leak, World
from tests.relay.scripted_agent import printer_id

HOME_LOOKS_WITHIN_S: Final = 15.0
"""Home Assistant's side looks every ten seconds whose printers are operators'."""
_NUMBER: Final = re.compile(r"person-(\d+)")
_INVITES: Final = " shares a 3D printer with you."
_KEY: Final = re.compile(r"/key/(\d+)")


def look_at_outgoing(world: World) -> None:
    """Hold what has left since the last look against whose it is."""
    _mails(world)
    _messages(world)
    _webhooks(world)
    _home(world)


def webhook_of(number: int) -> str:
    """The address of a webhook, by the number of its App Connection."""
    return f"https://receiver.example/key/{number}"


def _mails(world: World) -> None:
    sent, world.outbox.mails.sent = world.outbox.mails.sent, []
    for mail in sent:
        found = _NUMBER.match(mail.to)
        person = world.model.people[int(found[1])] if found else None
        # An invitation begins with the address of the owner, who had it sent.
        text = mail.text.partition(_INVITES)[2] if _INVITES in mail.text else mail.text
        world.look(f"{mail.subject} {text}".encode(), f"mail to {mail.to}", person)


def _messages(world: World) -> None:
    sent, world.outbox.messages.sent = world.outbox.messages.sent, []
    for message in sent:
        found = _NUMBER.search(message.url)
        assert found is not None, message.url
        person = world.model.people[int(found[1])]
        what = f"message to person {person.number}"
        world.look(f"{message.title} {message.text}".encode(), what, person)


def _webhooks(world: World) -> None:
    sent, world.outbox.webhooks.sent = world.outbox.webhooks.sent, []
    for one in sent:
        found = _KEY.search(one.url)
        assert found is not None, one.url
        key = next(key for key in world.model.of_kind(Kind.APP) if key.number == int(found[1]))
        world.look(one.body, f"webhook of {key}", key.person, key.tenure)
        if not world.is_good(key):
            raise Leak(f"webhook of {key} is called, though it has ended")


def _home(world: World) -> None:
    broker = world.outbox.broker
    published, broker.published = broker.published, []
    for _topic, payload, at in published:
        for number in WORD.findall(payload):
            if not int(number) and world.service.bus.is_losing:
                continue  # of a printer that was removed, which its agent knows and we don't
            tenure = world.model.tenures[int(number) - 1]
            person = tenure.person
            is_let_in = person.is_operator and not person.is_blocked
            was_let_in = at - person.operator_until < HOME_LOOKS_WITHIN_S
            has_gone = tenure.ended_at is not None and at - tenure.ended_at > HOME_LOOKS_WITHIN_S
            if has_gone or not (is_let_in or was_let_in):
                why = f"ended at {tenure.ended_at}" if has_gone else f"person {person.number}"
                raise Leak(f"Home Assistant is told of tenure {tenure.number} ({why}) at {at}")
        world.checks += 1


def look_at_home_when_settled(world: World) -> None:
    """Home Assistant knows the printers of operators, and no other."""
    if world.service.bus.is_losing:
        return
    let_in = [one for one in world.model.people if one.is_operator and not one.is_blocked]
    own = {one.printer for person in let_in for one in world.model.owned(person)}
    for name in PRINTERS:
        is_told = TOPICS.config(printer_id(name)) in world.outbox.broker.retained
        if is_told and name not in own:
            raise Leak(f"Home Assistant knows {name}, which is no operator's")
        if not is_told and name in own:
            raise Broken(f"Home Assistant doesn't know {name}, which is an operator's")


async def order_from_home(world: World) -> None:
    """A button pressed in Home Assistant."""
    name = world.chance.choice(PRINTERS)
    world.arrived()
    world.outbox.broker.order(printer_id(name), "PAUSE")
    await settle()
    tenure = world.model.printers[name]
    for one in world.arrived():
        if one.asked.head.method != b"POST":
            continue
        if tenure is None or one.printer != name:
            raise Leak(f"an order of Home Assistant to {name} reached {one.printer}")
        if not tenure.person.is_operator or tenure.person.is_blocked:
            raise Leak(f"Home Assistant paused {name}, which is no operator's")
