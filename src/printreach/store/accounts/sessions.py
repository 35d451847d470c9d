"""Sessions and unfinished sign-ins, as rows."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from printreach.rules.accounts.sessions import NextStep, Session, Step
from printreach.store.accounts.tables import sessions, steps
from printreach.store.columns import TableRecords, columns_for

_SESSION = columns_for(Session, sessions)
_STEP = columns_for(Step, steps)


class SessionRecords(TableRecords):
    """Browsers that are signed in."""

    async def add(self, session: Session, token_digest: bytes) -> None:
        await self._connection.execute(
            insert(sessions).values(**asdict(session), token_digest=token_digest)
        )

    async def with_token(self, token_digest: bytes) -> Session | None:
        return await self._first(
            Session, select(*_SESSION).where(sessions.c.token_digest == token_digest)
        )

    async def of_account(self, account_id: str) -> list[Session]:
        """Return sessions, the most recently used first; ended ones may be among them."""
        return await self._all(
            Session,
            select(*_SESSION)
            .where(sessions.c.account_id == account_id)
            .order_by(sessions.c.seen_at.desc(), sessions.c.session_id),
        )

    async def note(self, session_id: str, at: datetime, address: str, browser: str) -> None:
        await self._connection.execute(
            update(sessions)
            .where(sessions.c.session_id == session_id)
            .values(seen_at=at, address=address, browser=browser)
        )

    async def end(self, account_id: str, session_id: str) -> None:
        await self._connection.execute(
            delete(sessions).where(
                sessions.c.account_id == account_id, sessions.c.session_id == session_id
            )
        )

    async def end_all(self, account_id: str, *, exclude: str | None = None) -> None:
        others = sessions.c.account_id == account_id
        if exclude is not None:
            others &= sessions.c.session_id != exclude
        await self._connection.execute(delete(sessions).where(others))

    async def forget(self, seen_before: datetime) -> None:
        await self._connection.execute(delete(sessions).where(sessions.c.seen_at < seen_before))


class StepRecords(TableRecords):
    """Sign-ins that are not complete yet."""

    async def put(self, step: Step, token_digest: bytes, at: datetime) -> None:
        """Store a step; expired ones are deleted at the same time."""
        await self._connection.execute(delete(steps).where(steps.c.expires_at <= at))
        values = asdict(step) | {"awaits": step.awaits.value}
        await self._connection.execute(insert(steps).values(**values, token_digest=token_digest))

    async def get(self, token_digest: bytes, at: datetime) -> Step | None:
        return await self._first(
            _step,
            select(*_STEP).where(steps.c.token_digest == token_digest, steps.c.expires_at > at),
        )

    async def take(self, token_digest: bytes, at: datetime) -> Step | None:
        """Return the step and delete it, so that it can be used once."""
        step = await self.get(token_digest, at)
        await self._connection.execute(delete(steps).where(steps.c.token_digest == token_digest))
        return step

    async def drop(self, account_id: str) -> None:
        """Delete all steps of that account: earlier factors count no more."""
        await self._connection.execute(delete(steps).where(steps.c.account_id == account_id))


def _step(*, awaits: str, **row: Any) -> Step:
    return Step(**row, awaits=NextStep(awaits))
