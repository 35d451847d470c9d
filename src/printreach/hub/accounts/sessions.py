"""Sessions: begun, looked up by their token, listed, ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import UNKNOWN_SESSION_BY_ADDRESS
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.accounts.sessions import (
    IDLE_TIME,
    LONGEST_BROWSER,
    MAX_SESSIONS,
    Session,
    device_of,
    is_live,
    is_note_due,
    new_device_token,
)
from printreach.rules.connections.credentials import (
    CredentialKind,
    digest,
    new_record_id,
    new_session_token,
)
from printreach.rules.rate_limits import TooSoon
from printreach.store.store import Records

BLOCKED: Final = Denied(
    Reason.BLOCKED,
    N_("This account is blocked. Ask whoever runs this service to let you in again."),
)
"""Shown only after the caller proved that the account is theirs, so accounts cannot be enumerated.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Visitor:
    """The maker of a request: the caller's address, and the browser's User-Agent.

    device: the cookie of a browser that signed in before; see `rules.accounts.sessions`.
    language: of `printreach.languages`, as the browser wants it; "" where that is not known.
    """

    address: str
    browser: str
    device: str = ""
    language: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewSession:
    """A session that began now. token: for the browser's cookie, and stored nowhere else.

    device_token: the cookie by which the browser is recognised later; empty where it gets none.
    """

    token: str
    session: Session
    device_token: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sessions:
    """The use cases about sessions."""

    core: Core

    async def begin(
        self, records: Records, account_id: str, visitor: Visitor
    ) -> NewSession | Denied:
        """Sign a browser in, inside a unit of work. It always gets a new token."""
        at = self.core.clock.now()
        account = await records.accounts.get(account_id)
        if account is None or account.is_blocked:
            return BLOCKED
        token = new_session_token(self.core.token_bytes)
        session = Session(
            session_id=new_record_id(self.core.token_bytes),
            account_id=account_id,
            started_at=at,
            seen_at=at,
            address=visitor.address[:64],
            browser=visitor.browser[:LONGEST_BROWSER],
        )
        if account.browser_language != visitor.language:
            await records.accounts.set_browser_language(account_id, visitor.language)
        await records.sessions.forget(at - IDLE_TIME)
        others = await records.sessions.of_account(account_id)
        for surplus in others[MAX_SESSIONS - 1 :]:
            await _end(records, account_id, surplus.session_id, at)
        await records.sessions.add(session, token_digest(token))
        self.core.known_sessions.note(token_digest(token), session)
        is_known = device_of(visitor.device, account) is not None
        device_token = (
            visitor.device if is_known else new_device_token(account, self.core.token_bytes)
        )
        return NewSession(token=token, session=session, device_token=device_token)

    def known(self, token: str) -> tuple[str, str] | None:
        """Return the ids of account and session that the token was of, without asking the store.

        The session may have ended since.
        """
        return self.core.known_sessions.get(token_digest(token))

    def has_to_wait(self, visitor: Visitor) -> TooSoon | None:
        """Return how long tokens from there that are not known have to wait, after many wrong
        ones."""
        return self.core.caller_tries.look_by_address(UNKNOWN_SESSION_BY_ADDRESS, visitor.address)

    async def look_up(self, token: str, visitor: Visitor) -> tuple[Account, Session] | None:
        """Return the account and session of that token; note its use now and then.

        Tokens of no session are counted by their network.
        """
        at, known = self.core.clock.now(), self.core.known_sessions

        async def look(records: Records) -> tuple[Account, Session] | None:
            session = await records.sessions.with_token(token_digest(token))
            if session is None or not is_live(session, at):
                return None
            account = await records.accounts.get(session.account_id)
            return None if account is None or account.is_blocked else (account, session)

        found = await self.core.store.read(look)
        if found is None:
            known.forget(token_digest(token))
            self.core.caller_tries.take_by_address(UNKNOWN_SESSION_BY_ADDRESS, visitor.address)
            return None
        known.note(token_digest(token), found[1])
        if is_note_due(found[1], at):
            await self._note(found[1], at, visitor)
        return found

    async def of_account(self, account_id: str) -> list[Session]:
        """Return the browsers that are signed in, the most recently used first."""
        at = self.core.clock.now()
        every = await self.core.store.read(lambda records: records.sessions.of_account(account_id))
        return [session for session in every if is_live(session, at)]

    async def end(self, account_id: str, session_id: str) -> None:
        """Sign one of the account's browsers out, if it is signed in."""
        at = self.core.clock.now()
        await self.core.store.write(lambda records: _end(records, account_id, session_id, at))

    async def end_others(self, account_id: str, session_id: str) -> None:
        """Sign out every browser but one."""
        at = self.core.clock.now()
        await self.core.store.write(
            lambda records: end_all(records, account_id, at, exclude=session_id)
        )

    async def end_with_token(self, token: str) -> None:
        """Sign out the browser with that token, if there is one."""

        at = self.core.clock.now()

        async def end(records: Records) -> None:
            session = await records.sessions.with_token(token_digest(token))
            if session is not None:
                await _end(records, session.account_id, session.session_id, at)

        await self.core.store.write(end)

    async def _note(self, session: Session, at: datetime, visitor: Visitor) -> None:
        await self.core.store.write(
            lambda records: records.sessions.note(
                session.session_id, at, visitor.address[:64], visitor.browser[:LONGEST_BROWSER]
            )
        )


async def end_all(
    records: Records, account_id: str, at: datetime, *, exclude: str | None = None
) -> None:
    """Sign out every browser of an account, except perhaps one, from its printers' pages too.

    Nothing more is pushed to them.
    """
    await records.sessions.end_all(account_id, exclude=exclude)
    await records.pushes.end_all(account_id, exclude=exclude)
    await records.notify(Notice(Topic.ACCOUNT, account_id), at)


async def _end(records: Records, account_id: str, session_id: str, at: datetime) -> None:
    await records.sessions.end(account_id, session_id)
    await records.pushes.end_with_session(account_id, session_id)
    # What the browser opened of printers ends with it; the relay checks again.
    await records.notify(Notice(Topic.ACCOUNT, account_id), at)


def token_digest(token: str) -> bytes:
    """Return the digest of a session's token that is stored."""
    return digest(CredentialKind.SESSION, token.encode())
