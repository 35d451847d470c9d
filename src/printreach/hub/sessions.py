"""Sessions: begun, looked up by their token, listed, ended."""

from dataclasses import dataclass
from datetime import datetime

from printreach.ports import Clock, Records, Store
from printreach.rules.accounts import Account
from printreach.rules.credentials import (
    CredentialKind,
    TokenBytes,
    digest,
    new_record_id,
    new_session_token,
)
from printreach.rules.sessions import (
    IDLE_TIME,
    LONGEST_BROWSER,
    MAX_SESSIONS,
    Session,
    is_live,
    is_note_due,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Visitor:
    """Who asks: the caller's address, and what the browser says of itself."""

    address: str
    browser: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A session that began now. token: for the browser's cookie, and kept nowhere else."""

    token: str
    session: Session


@dataclass(frozen=True, kw_only=True, slots=True)
class Sessions:
    """The use cases about sessions."""

    store: Store
    clock: Clock
    token_bytes: TokenBytes

    async def begin(self, records: Records, account_id: str, visitor: Visitor) -> Begun:
        """Sign a browser in, inside a unit of work. It always gets a token of its own."""
        at = self.clock.now()
        token = new_session_token(self.token_bytes)
        session = Session(
            session_id=new_record_id(self.token_bytes),
            account_id=account_id,
            started_at=at,
            seen_at=at,
            address=visitor.address[:64],
            browser=visitor.browser[:LONGEST_BROWSER],
        )
        await records.sessions.forget(at - IDLE_TIME)
        others = await records.sessions.of_account(account_id)
        for surplus in others[MAX_SESSIONS - 1 :]:
            await records.sessions.end(account_id, surplus.session_id)
        await records.sessions.add(session, token_digest(token))
        return Begun(token=token, session=session)

    async def look_up(self, token: str, visitor: Visitor) -> tuple[Account, Session] | None:
        """Whose browser has that token; its use is noted now and then."""
        at = self.clock.now()

        async def look(records: Records) -> tuple[Account, Session] | None:
            session = await records.sessions.with_token(token_digest(token))
            if session is None or not is_live(session, at):
                return None
            account = await records.accounts.get(session.account_id)
            return None if account is None else (account, session)

        found = await self.store.read(look)
        if found is not None and is_note_due(found[1], at):
            await self._note(found[1], at, visitor)
        return found

    async def of_account(self, account_id: str) -> list[Session]:
        """The browsers that are signed in, those used last first."""
        at = self.clock.now()
        every = await self.store.read(lambda records: records.sessions.of_account(account_id))
        return [session for session in every if is_live(session, at)]

    async def end(self, account_id: str, session_id: str) -> None:
        """Sign one of the account's browsers out; it may be gone already."""
        await self.store.write(lambda records: records.sessions.end(account_id, session_id))

    async def end_others(self, account_id: str, session_id: str) -> None:
        """Sign out every browser but one."""
        await self.store.write(lambda records: records.sessions.end_all(account_id, but=session_id))

    async def end_with_token(self, token: str) -> None:
        """Sign out the browser with that token, if it is one."""

        async def end(records: Records) -> None:
            session = await records.sessions.with_token(token_digest(token))
            if session is not None:
                await records.sessions.end(session.account_id, session.session_id)

        await self.store.write(end)

    async def _note(self, session: Session, at: datetime, visitor: Visitor) -> None:
        await self.store.write(
            lambda records: records.sessions.note(
                session.session_id, at, visitor.address[:64], visitor.browser[:LONGEST_BROWSER]
            )
        )


def token_digest(token: str) -> bytes:
    """What is stored of a session's token."""
    return digest(CredentialKind.SESSION, token.encode())
