"""The browsers that an account is notified in: added by themselves, named, ended."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.notifications import WrongField, add_destination
from printreach.languages import N_
from printreach.ports.notifications import PushSender, Sealer
from printreach.rules.accounts.sessions import Session, browser_in_words
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.notifications import Destination
from printreach.rules.notifications.channels import PUSH
from printreach.rules.notifications.push import (
    LONGEST_NAME,
    MAX_DEVICES,
    Subscription,
    parse_subscription,
)
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.rules.safe_text import is_printable_name
from printreach.store.store import Records

ADDITIONS: Final = Limit(name="push-device", at_once=10, every=timedelta(minutes=1))
"""Each looks a name up that the caller chose."""
_NO_SUBSCRIPTION: Final = Denied(
    Reason.INVALID, N_("This browser did not say how it can be notified. Try again.")
)
_NO_DEVICE: Final = Denied(Reason.INVALID, N_("This browser is not on the list any more."))


@dataclass(frozen=True, kw_only=True, slots=True)
class Devices:
    """The use cases."""

    core: Core
    sealer: Sealer
    sender: PushSender

    @property
    def public_key(self) -> str:
        """The key that browsers subscribe with."""
        return self.sender.public_key

    async def add(self, session: Session, described: str) -> Destination | Denied | TooSoon:
        """Add the browser of a session. described: what it says of its subscription, as JSON.

        If another account had it before, it loses it: a browser shows the messages of one person.
        """
        refused = self.core.caller_tries.take(ADDITIONS, session.account_id)
        if refused is not None:
            return refused
        subscription = parse_subscription(described)
        if subscription is None:
            return _NO_SUBSCRIPTION
        problem = await self.sender.problem_with(subscription)
        if problem is not None:
            return Denied(Reason.INVALID, problem)
        destination_id = new_record_id(self.core.token_bytes)
        destination = Destination(
            destination_id=destination_id,
            account_id=session.account_id,
            channel=PUSH,
            label=browser_in_words(session.browser),
            sealed=self.sealer.seal(subscription.to_json(), destination_id),
            created_at=self.core.clock.now(),
        )
        return await self.core.store.write(
            lambda records: _add(records, session, subscription, destination)
        )

    async def renew(self, session: Session, described: str) -> Destination | Denied:
        """Have a browser's subscription end with this session from now on.

        Denied if the account doesn't have it any more: then the browser is to end it.
        """
        subscription = parse_subscription(described)
        if subscription is None:
            return _NO_SUBSCRIPTION
        known = await self.core.store.read(
            lambda records: records.pushes.with_digest(subscription.digest())
        )
        if known is None or known.account_id != session.account_id:
            return _NO_DEVICE
        await self.core.store.write(
            lambda records: records.pushes.bind(known.destination_id, session.session_id)
        )
        return known

    async def rename(
        self, account_id: str, destination_id: str, name: str
    ) -> WrongField | Denied | None:
        """Name a browser."""
        chosen = " ".join(name.split())
        if not chosen or not is_printable_name(chosen):
            return WrongField("name", N_("Type a name, such as My phone."))
        if len(chosen) > LONGEST_NAME:
            return WrongField(
                "name", N_("Use up to %(longest_name)s characters.", longest_name=LONGEST_NAME)
            )

        async def rename(records: Records) -> Denied | None:
            known = await records.notifications.destination(destination_id)
            if known is None or known.account_id != account_id or known.channel != PUSH:
                return _NO_DEVICE
            await records.pushes.rename(destination_id, chosen)
            return None

        return await self.core.store.write(rename)


async def _add(
    records: Records, session: Session, subscription: Subscription, destination: Destination
) -> Destination | Denied:
    known = await records.pushes.with_digest(subscription.digest())
    if known is not None and known.account_id == session.account_id:
        await records.pushes.bind(known.destination_id, session.session_id)
        return known
    if known is not None:
        await records.notifications.remove_destination(known.account_id, known.destination_id)
    existing = await records.notifications.destinations(session.account_id)
    if sum(one.channel == PUSH for one in existing) >= MAX_DEVICES:
        return Denied(
            Reason.INVALID,
            N_(
                "You can have up to %(max_devices)s browsers. Remove one first.",
                max_devices=MAX_DEVICES,
            ),
        )
    added = await add_destination(records, destination)
    if isinstance(added, WrongField):
        return Denied(Reason.INVALID, added.sentence)
    await records.pushes.add(destination.destination_id, session.session_id, subscription.digest())
    return destination
