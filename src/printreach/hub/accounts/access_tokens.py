"""Access tokens for people's own programs: created, shown once, used and revoked."""

from dataclasses import dataclass

from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.accounts.access_tokens import (
    MAX_TOKENS,
    PREFIX,
    AccessToken,
    Scope,
    parse_scopes,
    parse_token_name,
    use_is_worth_a_note,
)
from printreach.rules.accounts.sessions import Session
from printreach.rules.connections.credentials import (
    CredentialKind,
    digest,
    new_record_id,
    new_secret,
)
from printreach.rules.rate_limits import TooSoon
from printreach.store.store import Records


@dataclass(frozen=True, slots=True)
class MadeToken:
    """secret: it cannot be looked up later."""

    token: AccessToken
    secret: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessTokens:
    """The use cases about access tokens."""

    core: Core

    async def make(self, account_id: str, name: str, scopes: list[str]) -> MadeToken | Denied:
        """Create a token. Its secret is in the answer and nowhere else."""
        return await self._make(account_id, name, scopes, None)

    async def _make(
        self, account_id: str, name: str, scopes: list[str], owner: Account | None
    ) -> MadeToken | Denied:
        """Store a new token. owner: the account that gets a mail about it; None for no mail."""
        called, chosen = parse_token_name(name), parse_scopes(scopes)
        if called is None:
            return Denied(
                Reason.INVALID, N_("A name has 1 to 60 characters, none of them invisible.")
            )
        if chosen is None:
            return Denied(Reason.INVALID, N_("Choose what the token may do."))
        token = AccessToken(
            token_id=new_record_id(self.core.token_bytes),
            account_id=account_id,
            name=called,
            scopes=chosen,
            created_at=self.core.clock.now(),
        )
        secret = PREFIX + new_secret(self.core.token_bytes)

        async def add(records: Records) -> Denied | None:
            if len(await records.access_tokens.of_account(account_id)) >= MAX_TOKENS:
                return Denied(
                    Reason.INVALID,
                    N_(
                        "You can have up to %(max_tokens)s tokens. End one first.",
                        max_tokens=MAX_TOKENS,
                    ),
                )
            await records.access_tokens.add(token, access_token_digest(secret))
            if owner is not None:
                what = N_("An access token was made: %(name)s.", name=token.name)
                await self.core.account_mailer.tell_of_security(
                    records, owner, what, token.created_at
                )
            return None

        return await self.core.store.write(add) or MadeToken(token, secret)

    async def make_by_owner(
        self, account: Account, session: Session, password: str, name: str, scopes: list[str]
    ) -> MadeToken | Denied | TooSoon:
        """Create a token from a browser.

        A token outlives the session, so this asks for the password.
        """
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        return await self._make(account.account_id, name, scopes, account)

    async def of_account(self, account_id: str) -> list[AccessToken]:
        """Return the account's tokens, newest first."""
        return await self.core.store.read(
            lambda records: records.access_tokens.of_account(account_id)
        )

    async def end(self, account_id: str, token_id: str) -> bool:
        """Revoke a token; it opens nothing any more, and streams that it opened end at once.

        Returns whether there was such a token.
        """

        async def remove(records: Records) -> bool:
            was_there = await records.access_tokens.remove(account_id, token_id)
            if was_there:
                await records.notify(Notice(Topic.ACCOUNT, account_id), self.core.clock.now())
            return was_there

        return await self.core.store.write(remove)

    async def look_up(self, secret: str, scope: Scope) -> AccessToken | None:
        """Return the token with that secret if it has that scope; note its use now and then."""
        if not secret.startswith(PREFIX):
            return None
        token = await self.core.store.read(lambda records: _token(records, secret))
        if token is None or scope not in token.scopes:
            return None
        at = self.core.clock.now()
        if use_is_worth_a_note(token, at):
            token_id = token.token_id
            await self.core.store.write(
                lambda records: records.access_tokens.note_use(token_id, at)
            )
        return token


async def _token(records: Records, secret: str) -> AccessToken | None:
    """Return the token with that secret, unless its owner is blocked."""
    token = await records.access_tokens.with_digest(access_token_digest(secret))
    account = None if token is None else await records.accounts.get(token.account_id)
    return None if account is None or account.is_blocked else token


def access_token_digest(secret: str) -> bytes:
    """Return the digest of a token that is stored."""
    return digest(CredentialKind.ACCESS_TOKEN, secret.encode())
