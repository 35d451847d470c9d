"""The agent's credentials: an API key, or a user and a password by HTTP Digest."""

from collections.abc import Callable

from printreach.printers.setup import PrinterSetup
from printreach.wire.heads import Headers

from .digest import Account, Challenge, authorization

USUAL_USER = "maker"
"""As Buddy's firmware has it; on a Raspberry Pi its owner names one."""


class Login:
    """An API key wins where both are given: it costs no second request."""

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

    def headers(self, method: bytes, target: str) -> Headers:
        """Return what a request carries. target: as its request line has it."""
        if self._api_key:
            return [(b"X-Api-Key", self._api_key.encode())]
        if self._account is None or self._challenge is None:
            return []
        self._count += 1
        cnonce = self._token_bytes(8).hex()
        signed = authorization(
            self._challenge, self._account, method.decode(), target, self._count, cnonce
        )
        return [(b"Authorization", signed)]

    def accepts(self, header: bytes | None, answered: Challenge | None) -> bool:
        """Take what a server asks for; False where that can't be given, or was given in vain.

        header: its WWW-Authenticate. answered: what the refused request was signed for.
        """
        challenge = None if header is None else Challenge.parse(header)
        if self._account is None or challenge is None or challenge == answered:
            return False
        if challenge != self._challenge:
            self._challenge, self._count = challenge, 0
        return True

    def forget_challenge(self) -> None:
        """Let the next request be refused, so that what follows is signed afresh."""
        self._challenge = None
