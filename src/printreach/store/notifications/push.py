"""Browsers that notifications are pushed to, and the acts that were offered with them, as rows."""

from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, insert, select, update

from printreach.rules.notifications import Destination
from printreach.rules.notifications.push import ActOffer, PushAct
from printreach.store.columns import TableRecords, columns_for
from printreach.store.notifications import DESTINATION_COLUMNS
from printreach.store.notifications.tables import notify_targets, push_acts, push_devices

_OFFER_NAMES: Final = {"destination_id": "target_id"}
_OFFER = columns_for(ActOffer, push_acts, **_OFFER_NAMES)
_devices, _acts = push_devices.c, push_acts.c


class PushRecords(TableRecords):
    """Devices and acts, in one unit of work."""

    # --- devices ----------------------------------------------------------------------------------

    async def add(self, destination_id: str, session_id: str, digest: bytes) -> None:
        """Store what is known of a destination that is a browser."""
        await self._connection.execute(
            insert(push_devices).values(
                target_id=destination_id, session_id=session_id, subscription_digest=digest
            )
        )

    async def with_digest(self, digest: bytes) -> Destination | None:
        """Return the destination of that subscription, whosever it is."""
        return await self._first(
            Destination,
            select(*DESTINATION_COLUMNS)
            .join(push_devices, _devices.target_id == notify_targets.c.target_id)
            .where(_devices.subscription_digest == digest),
        )

    async def bind(self, destination_id: str, session_id: str) -> None:
        """Have the destination end with that session."""
        await self._connection.execute(
            update(push_devices)
            .where(_devices.target_id == destination_id)
            .values(session_id=session_id)
        )

    async def end_with_session(self, account_id: str, session_id: str) -> None:
        """Remove the destinations of a browser that was signed out."""
        await self._end(account_id, _devices.session_id == session_id)

    async def end_all(self, account_id: str, *, exclude: str | None = None) -> None:
        """Remove those of every browser of an account, except perhaps of one session."""
        await self._end(account_id, _devices.session_id.is_distinct_from(exclude))

    async def _end(self, account_id: str, chosen: ColumnElement[bool]) -> None:
        await self._connection.execute(
            delete(notify_targets).where(
                notify_targets.c.account_id == account_id,
                notify_targets.c.target_id.in_(select(_devices.target_id).where(chosen)),
            )
        )

    async def rename(self, destination_id: str, name: str) -> None:
        await self._connection.execute(
            update(notify_targets)
            .where(notify_targets.c.target_id == destination_id)
            .values(label=name)
        )

    # --- acts -------------------------------------------------------------------------------------

    async def offer(self, offer: ActOffer, token_digest: bytes) -> None:
        values = {_OFFER_NAMES.get(name, name): value for name, value in asdict(offer).items()}
        await self._connection.execute(
            insert(push_acts).values(**values, token_digest=token_digest)
        )

    async def use(self, token_digest: bytes, at: datetime) -> ActOffer | None:
        """Mark the offer as used; None if there is none or it was used before."""
        found = await self._connection.execute(
            update(push_acts)
            .where(_acts.token_digest == token_digest, _acts.used_at.is_(None))
            .values(used_at=at)
            .returning(*_OFFER)
        )
        row = found.mappings().first()
        return None if row is None else _offer(**row)

    async def conclude(self, token_digest: bytes, outcome: str) -> None:
        """Store what came of an act. outcome: as of ActOffer."""
        await self._connection.execute(
            update(push_acts).where(_acts.token_digest == token_digest).values(outcome=outcome)
        )

    async def done(self, account_id: str, printer_id: str, print_id: str) -> list[ActOffer]:
        """Return what was done of a print from notifications, the oldest first."""
        return await self._all(
            _offer,
            select(*_OFFER)
            .where(
                _acts.account_id == account_id,
                _acts.printer_id == printer_id,
                _acts.print_id == print_id,
                _acts.used_at.is_not(None),
                _acts.outcome == "",
            )
            .order_by(_acts.used_at),
        )

    async def forget(self, unused_before: datetime, used_before: datetime) -> None:
        """Delete offers that expired before then, and what was done longer ago."""
        await self._connection.execute(
            delete(push_acts).where(_acts.used_at.is_(None), _acts.expires_at < unused_before)
        )
        await self._connection.execute(delete(push_acts).where(_acts.expires_at < used_before))


def _offer(*, act: str, **row: Any) -> ActOffer:
    return ActOffer(**row, act=PushAct(act))
