"""PrusaLink's web API, asked over HTTP. Every failure is a PrinterRefused.

It asks for the password by HTTP Digest. Source: RFC 7616, and RFC 2069 for Buddy's firmware, which
asks without `qop`. PrusaLink 0.8.1 asks for MD5-sess with `auth`.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from printreach.contract.sizes import MAX_PICTURE_BYTES
from printreach.http1.fetch import FetchedAnswer, Fetcher
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import timed_out
from printreach.printers.http_api import MAX_ANSWER_BYTES, MAX_WORDS, HttpApi
from printreach.printers.setup import PrinterSetup
from printreach.wire.heads import Headers

MAX_LIST_BYTES = 32 * 1024 * 1024
"""One folder with ten thousand prints takes about 4 MB."""
CHALLENGES = 2
"""The first to learn what is asked for, the second since that has grown stale."""
USUAL_USER = "maker"
"""As Buddy's firmware has it; on a Raspberry Pi its owner names one."""

MAX_CHALLENGE_BYTES = 4096
_FIELD = re.compile(r'([A-Za-z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_HASHES = {"MD5": "md5", "SHA-256": "sha256"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A server's demand. algorithm: one that it may name, "" where it names none."""

    realm: str
    nonce: str
    algorithm: str = ""
    opaque: str | None = None
    has_qop: bool = False

    @classmethod
    def parse(cls, header: bytes) -> Self | None:
        """Parse a challenge; None for what is no Digest, or one that can't be answered here."""
        scheme, _, rest = header[:MAX_CHALLENGE_BYTES].decode("latin-1").partition(" ")
        if scheme.lower() != "digest":
            return None
        fields = {name.lower(): quoted or plain for name, quoted, plain in _FIELD.findall(rest)}
        qop = [word.strip() for word in fields.get("qop", "").split(",")]
        algorithm = fields.get("algorithm", "")
        if "nonce" not in fields or _hash_name(algorithm) is None:
            return None
        if "qop" in fields and "auth" not in qop:
            return None
        return cls(
            realm=fields.get("realm", ""),
            nonce=fields["nonce"],
            algorithm=algorithm,
            opaque=fields.get("opaque"),
            has_qop="qop" in fields,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    user: str
    password: str = field(repr=False)


def authorization(
    challenge: Challenge, account: Account, method: str, target: str, count: int, cnonce: str
) -> bytes:
    """Return the value of an Authorization header.

    target: as the request line has it. count: how often this nonce has been used, from 1.
    cnonce: unguessable.
    """
    nc = f"{count:08x}"
    secret = _digest(challenge, account.user, challenge.realm, account.password)
    if challenge.algorithm.lower().endswith("-sess"):
        secret = _digest(challenge, secret, challenge.nonce, cnonce)
    request = _digest(challenge, method, target)
    if challenge.has_qop:
        response = _digest(challenge, secret, challenge.nonce, nc, cnonce, "auth", request)
    else:
        response = _digest(challenge, secret, challenge.nonce, request)
    fields = [
        f'username="{_escaped(account.user)}"',
        *(
            f'{name}="{value}"'
            for name, value in (("realm", challenge.realm), ("nonce", challenge.nonce))
        ),
        f'uri="{target}"',
        f'response="{response}"',
    ]
    if challenge.algorithm:
        fields.append(f'algorithm="{challenge.algorithm}"')
    if challenge.opaque is not None:
        fields.append(f'opaque="{challenge.opaque}"')
    if challenge.has_qop:
        fields += ['qop="auth"', f'nc="{nc}"', f'cnonce="{cnonce}"']
    return f"Digest {', '.join(fields)}".encode()


def _digest(challenge: Challenge, *parts: str) -> str:
    name = _hash_name(challenge.algorithm) or "md5"
    return hashlib.new(name, ":".join(parts).encode()).hexdigest()


def _hash_name(algorithm: str) -> str | None:
    name = algorithm.upper().removesuffix("-SESS")
    return _HASHES.get(name or "MD5")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class PrusaLinkApi(HttpApi):
    """Source of the refusals: answers of 0.8.1, Buddy's `status_page.cpp`."""

    def __init__(self, setup: PrinterSetup) -> None:
        super().__init__(setup, N_("PrusaLink at %(host)s"))
        self._login = Login(setup)

    async def get_soon(self, target: str, seconds: float) -> object:
        """Return the answer's JSON, within a time."""
        try:
            async with asyncio.timeout(seconds):
                return await self.get(target)
        except TimeoutError:
            raise timed_out(self.where) from None

    async def picture(self, target: str) -> bytes:
        """Return a body as it is; b"" where there is none."""
        return self.accept(await self.ask("GET", target, at_most=MAX_PICTURE_BYTES)).body

    async def ask(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        headers: Headers | None = None,
        at_most: int = MAX_ANSWER_BYTES,
        fetcher: Fetcher | None = None,
    ) -> FetchedAnswer:
        """Return any answer to a request that is signed as the server demands."""
        challenges_left = CHALLENGES
        while True:
            answered = self._login.challenge
            answer = await super().ask(
                method, target, body, headers=headers, at_most=at_most, fetcher=fetcher
            )
            demand = answer.header(b"www-authenticate")
            if answer.status != 401 or not challenges_left:
                return answer
            if not self._login.accepts(demand, answered):
                return answer
            challenges_left -= 1

    def credentials(self, method: str, target: str) -> Headers:
        return [(b"Accept", b"application/json"), *self._login.headers(method, target)]

    async def renew_credentials(self) -> None:
        """A body that is refused for an old nonce can't be sent again."""
        self._login.forget_challenge()
        if self._login.wants_challenge:
            await self.get("/api/version")

    def words_of(self, answer: FetchedAnswer) -> str:
        reported = loose.parsed(answer.body)
        words = loose.text(reported, "text") or loose.text(reported, "message") or ""
        return words[:MAX_WORDS]

    @property
    def denied(self) -> str:
        if not self._login.has_credentials:
            return in_english(
                "%(where)s asks for a password or an API key, and the agent has none: one is"
                " given in PRINTREACH_PRINTER_PASSWORD or PRINTREACH_PRINTER_API_KEY.",
                where=self.where,
            )
        return in_english("%(where)s refuses the agent's password or API key.", where=self.where)


class Login:
    """The agent's credentials. An API key wins over a password: it costs no second request."""

    def __init__(self, setup: PrinterSetup) -> None:
        self._api_key = setup.api_key
        self._account: Account | None = None
        if setup.password and not setup.api_key:
            self._account = Account(user=setup.user or USUAL_USER, password=setup.password)
        self._token_bytes: Callable[[int], bytes] = setup.token_bytes
        self._challenge: Challenge | None = None
        self._count = 0

    @property
    def has_credentials(self) -> bool:
        return bool(self._api_key) or self._account is not None

    @property
    def challenge(self) -> Challenge | None:
        """The demand that requests are signed for at present."""
        return self._challenge

    @property
    def wants_challenge(self) -> bool:
        """A request has to be refused first: it isn't known what it is to be signed for."""
        return self._account is not None and self._challenge is None

    def headers(self, method: str, target: str) -> Headers:
        """Return what a request carries. target: as its request line has it."""
        if self._api_key:
            return [(b"X-Api-Key", self._api_key.encode())]
        if self._account is None or self._challenge is None:
            return []
        self._count += 1
        cnonce = self._token_bytes(8).hex()
        signed = authorization(self._challenge, self._account, method, target, self._count, cnonce)
        return [(b"Authorization", signed)]

    def accepts(self, header: bytes | None, answered: Challenge | None) -> bool:
        """Accept a challenge; False where it can't be answered, or was answered in vain.

        header: its WWW-Authenticate. answered: what the refused request was signed for.
        """
        challenge = None if header is None else Challenge.parse(header)
        if self._account is None or challenge is None or challenge == answered:
            return False
        if challenge != self._challenge:
            self._challenge, self._count = challenge, 0
        return True

    def forget_challenge(self) -> None:
        """Drop the challenge: the next request is refused, which brings a new one."""
        self._challenge = None
