"""OctoPrint's REST API, asked over HTTP. Every failure is a PrinterRefused."""

from dataclasses import dataclass, field

from printreach.http1.fetch import FetchedAnswer
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.http_api import MAX_WORDS, KeyedApi
from printreach.printers.setup import PrinterSetup

MAX_LIST_BYTES = 64 * 1024 * 1024
"""A list of ten thousand files with their analysis takes about 20 MB."""


@dataclass(frozen=True, slots=True)
class Login:
    """The credentials of a push channel. roles: what the key may do."""

    auth: str = field(repr=False)
    roles: frozenset[str] = frozenset()


class OctoPrintApi(KeyedApi):
    """Source of the refusals: answers of 1.11.8."""

    def __init__(self, setup: PrinterSetup) -> None:
        super().__init__(setup, N_("OctoPrint at %(host)s"))
        self.push_url = f"ws://{setup.authority}/sockjs/websocket"

    def words_of(self, answer: FetchedAnswer) -> str:
        return (loose.text(loose.parsed(answer.body), "error") or "")[:MAX_WORDS]

    async def login(self) -> Login | None:
        """Log in; None where OctoPrint gives this key no session, so that it can only be polled."""
        answer = await self.post("/api/login", {"passive": True})
        name, session = loose.text(answer, "name"), loose.text(answer, "session")
        roles = loose.items(loose.obj(answer, "needs"), "role")
        if name is None or session is None:
            return None
        return Login(f"{name}:{session}", frozenset(r for r in roles if isinstance(r, str)))
