"""The walk's world: the running service, the agents, the model, and how its people ask."""

import asyncio
import re
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, TypeVar
from urllib.parse import urlencode

from printreach.contract import signin
from printreach.http1.fetch import FetchedAnswer
from printreach.hub.apps import Apps
from printreach.rules.accounts import Account
from printreach.rules.operators import COMMAND_LINE
from printreach.wire.heads import Headers
from tests.fakes.hasty_loop import settle
from tests.isolation.walk.agents import WORD, PrinterAgent, agent_links
from tests.isolation.walk.model import Key, Kind, Model, Person, Tenure
from tests.isolation.walk.service import (
    BASE_URL,
    Outbox,
    Service,
    WebApp,
    running,
    walk_settings,
)
from tests.isolation.walk.virtual_time import VirtualClock
from tests.relay.scripted_agent import SERVICE_HOST, Asked
from tests.rigs.databases import copy_database

T = TypeVar("T")

PRINTERS: Final = ("red", "green", "blue", "grey")
PEOPLE: Final = 3
APP: Final = "app"
GRANT_TTL_S: Final = 30.0
"""So long, at most, anything goes by what it knew before a notice was lost."""
EMAIL: Final = re.compile(rb"person-(\d+)@")
OPERATOR: Final = "operator@service.example"


class Leak(AssertionError):
    """Something reached somebody whose it isn't."""


class Broken(AssertionError):
    """Something that should work doesn't."""


@dataclass(frozen=True)
class Reached:
    """A request that arrived at a printer's agent. tenure: of the printer at that time.

    at: seconds of the loop's clock.
    """

    printer: str
    tenure: int | None
    asked: Asked
    at: float


@dataclass
class World:
    """kept in step by `steps`, and held against the service by `probes`.

    chance: of the step under way. checks: how many answers were held against the model.
    """

    folder: Path
    empty: Path
    web: WebApp
    chance: Random = field(default_factory=lambda: Random(0))
    model: Model = field(default_factory=Model)
    outbox: Outbox = field(default_factory=Outbox)
    checks: int = 0
    service: Service = field(init=False)
    clock: VirtualClock = field(init=False)
    _tunnels: list[PrinterAgent] = field(default_factory=list)
    _run: AsyncExitStack = field(default_factory=AsyncExitStack)
    _numbers: int = 0

    # --- beginning and ending ---------------------------------------------------------------------

    async def begin(self) -> None:
        """Set the service up: its operator, the people, an app, and agents of all printers."""
        self.clock = VirtualClock(asyncio.get_running_loop())
        settings = walk_settings(self.folder)
        copy_database(self.empty, settings.database_path)
        self.model.printers = dict.fromkeys(PRINTERS)
        await self._start()
        accounts = self.service.services.accounts
        await accounts.add(OPERATOR, "a long enough passphrase", is_admin=True, by=COMMAND_LINE)
        for number in range(PEOPLE):
            email, password = f"person-{number}@example.org", f"a long enough passphrase {number}"
            made = await accounts.add(email, password, supporter=True)
            assert isinstance(made, Account), made
            self.model.people.append(Person(number, email, made.account_id, password))
        apps = Apps(core=self.service.core)
        await apps.add(APP, "App", ["https://app.example/"])
        for printer in PRINTERS:
            await self.connect_agent(printer)

    async def restart(self) -> None:
        """The service stops and starts; nothing stays but its database. Agents come back."""
        here = [printer for printer in PRINTERS if self.is_here(printer)]
        is_losing = self.service.bus.is_losing
        await self.end()
        self._tunnels.clear()
        await self._start()
        self.service.bus.is_losing = is_losing
        for printer in here:
            await self.connect_agent(printer)

    async def end(self) -> None:
        run, self._run = self._run, AsyncExitStack()
        await run.aclose()

    async def _start(self) -> None:
        settings = walk_settings(self.folder)
        run = running(settings, self.clock, self.outbox, self.web)
        self.service = await self._run.enter_async_context(run)
        await settle()

    # --- choosing ---------------------------------------------------------------------------------

    def pick(self, candidates: Iterable[T]) -> T | None:
        """One of them, by the step's own random numbers; None where there is none."""
        found = list(candidates)
        return self.chance.choice(found) if found else None

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def now(self) -> float:
        """Seconds of the loop's clock."""
        return asyncio.get_running_loop().time()

    def is_good(self, key: Key) -> bool:
        return key.is_good(self.clock.now())

    def good(self, *kinds: Kind) -> list[Key]:
        return self.model.good(self.clock.now(), *kinds)

    def add_key(self, key: Key) -> Key:
        self.model.keys.append(key)
        return key

    def unsettle(self, *, person: Person | None = None, tenure: Tenure | None = None) -> None:
        """What that person or tenure has is being changed: older knowledge may still be in use.

        Without notices for as long as the service trusts in what it knows; with them only where it
        remembers an answer for everybody who looks, which is two seconds for a Live Link.
        """
        is_losing = self.service.bus.is_losing
        for key in self.model.keys:
            if key.person is person or (tenure is not None and key.tenure is tenure):
                timeout_s = GRANT_TTL_S if is_losing else 2.0 if key.kind is Kind.LIVE else 0.0
                if timeout_s:
                    key.unsure_until = max(key.unsure_until, self.now() + timeout_s)

    def may_not_know_yet(self, reached: Reached) -> bool:
        """The printer had been removed a moment before, and the notice of that was lost."""
        ends = [one.ended_at for one in self.model.tenures if one.printer == reached.printer]
        ended_at = ends[-1] if ends else None
        is_recent = ended_at is not None and reached.at - ended_at <= GRANT_TTL_S
        return is_recent and self.service.bus.is_losing

    # --- agents -----------------------------------------------------------------------------------

    async def connect_agent(self, printer: str) -> PrinterAgent:
        """The agent dials, for the first time or anew; an older tunnel of its is replaced."""
        agent = PrinterAgent(printer, tenure_of=self.model.tenure_number)
        agent_end, service_end = agent_links()
        agent.carry_on(agent_end)
        self.service.accept_agent(service_end, f"10.200.0.{len(self._tunnels) % 250}")
        await agent.begin(agent_end)
        await agent.prove()
        await settle()
        self._tunnels.append(agent)
        owned = self.model.printers[printer] is not None
        if agent.closed is None and not self.service.bus.is_losing:
            kind = signin.Welcome if owned else signin.LinkOffer
            if not any(isinstance(said, kind) for said in agent.heard):
                raise Broken(f"the agent of {printer} was not told whose it is: {agent.heard}")
        return agent

    def agents_of(self, printer: str) -> list[PrinterAgent]:
        """Those that are connected. Where two wait to be linked, either may stay."""
        return [one for one in self._tunnels if one.name == printer and one.closed is None]

    def is_here(self, printer: str) -> bool:
        return bool(self.agents_of(printer))

    def arrived(self) -> list[Reached]:
        """What has reached any agent since the last look, with whose its printer was then."""
        found = []
        for agent in self._tunnels:
            found += [Reached(agent.name, *arrived) for arrived in agent.arrived]
            agent.arrived.clear()
            agent.asked.clear()
        self._tunnels = [agent for agent in self._tunnels if agent.closed is None]
        return found

    # --- asking -----------------------------------------------------------------------------------

    def from_somewhere(self) -> Headers:
        """As the proxy tells it: an address that has not asked before, so no limit is reached."""
        low = self.next_number()
        address = f"10.{low >> 16 & 127}.{low >> 8 & 255}.{low & 255}"
        return [(b"X-Forwarded-For", address.encode()), (b"X-Forwarded-Proto", b"https")]

    async def ask(
        self, host: str, method: str, target: str, headers: Headers, body: bytes = b""
    ) -> FetchedAnswer:
        return await self.service.ask(
            host, method, target, [*self.from_somewhere(), *headers], body
        )

    async def page(self, session: Key, path: str, *, accept: bytes = b"text/html") -> FetchedAnswer:
        """A page of the service's own host, in that browser."""
        return await self.ask(SERVICE_HOST, "GET", path, [cookie_of(session), (b"Accept", accept)])

    async def send(self, session: Key | None, path: str, /, **fields: str) -> FetchedAnswer:
        """A form of a page of the service's own host, in that browser."""
        headers = [
            (b"Origin", BASE_URL.encode()),
            (b"Content-Type", b"application/x-www-form-urlencoded"),
            (b"Accept", b"text/html"),
        ]
        if session is not None:
            headers.append(cookie_of(session))
        return await self.ask(SERVICE_HOST, "POST", path, headers, urlencode(fields).encode())

    # --- what may be seen -------------------------------------------------------------------------

    def look(
        self,
        data: bytes,
        what: str,
        person: Person | None,
        tenure: Tenure | None = None,
        *,
        shows_address: bool = True,
        shows_shared: bool = False,
    ) -> set[int]:
        """Hold words against whose they are; the tenures that were found.

        person: to whom they were said. tenure: the only one they may be of, where one is given.
        shows_address: whether the person's own mail address may be there. shows_shared: whether
        things may be there of printers that the person was let in to.
        """
        self.checks += 1
        found = {int(number) for number in WORD.findall(data)}
        if self.service.bus.is_losing:
            found.discard(0)  # of a printer that was removed, which its agent knows and we don't
        for number in found:
            known = next((one for one in self.model.tenures if one.number == number), None)
            is_theirs = known is not None and known.person is person
            if known is not None and person is not None and shows_shared:
                is_theirs = is_theirs or self.model.was_shared(known, person)
            if known is None or (known is not tenure if tenure else not is_theirs):
                raise Leak(f"{what}: a word of tenure {number}, {_told(known)}")
        for number in EMAIL.findall(data):
            allowed = {person.number} if person is not None and shows_address else set()
            if person is not None and shows_shared:
                allowed |= self._known_by(person)
            if int(number) not in allowed:
                raise Leak(f"{what}: the address of person {int(number)}")
        return found

    def _known_by(self, person: Person) -> set[int]:
        """The people whom a printer has in common with this one: they see each other's address."""
        known = set()
        for tenure in self.model.tenures:
            if tenure.person is person:
                known |= {one.number for one in tenure.ever_members}
            elif person in tenure.ever_members:
                known.add(tenure.person.number)
        return known


def cookie_of(session: Key) -> tuple[bytes, bytes]:
    return b"Cookie", f"__Host-printreach_session={session.secret}".encode()


def _told(tenure: Tenure | None) -> str:
    if tenure is None:
        return "which nobody has"
    return f"of person {tenure.person.number} and {tenure.printer}"
