"""Whatever is linked, removed, connected, shared, revoked or lost, in any order: each sees its own.

Once with a host for each connection, and once with a port for each.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from printreach.store.migrate import migrate
from tests.hub.world import ADA, BOB
from tests.isolation.world import (
    APP,
    GRANT_TTL_S,
    Access,
    Isolation,
    PatientLoop,
    Proof,
    Reached,
    begin,
)
from tests.relay.caller import request
from tests.rigs.databases import copy_database
from tests.rigs.waiting import free_ports

PRINTERS = ("red", "green", "blue")
MAX_CONNECTIONS = 8
PORTS = 4  # fewer than connections, so that some change hands
LIVE, REFUSED = {200, 601}, {601, 603, 604, 606}

printers = st.sampled_from(PRINTERS)
picks = st.integers(0, MAX_CONNECTIONS - 1)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database, to be copied."""
    path = tmp_path_factory.mktemp("isolation") / "data" / "database.sqlite3"
    migrate(path)
    return path


def picked(candidates: Iterable[str], pick: int) -> str:
    """One of them; there is one."""
    names = sorted(candidates)
    return names[pick % len(names)]


class Everybody(RuleBasedStateMachine):
    """Two accounts, three printers, apps, guests and browsers."""

    migrated: Path
    has_ports: bool

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="isolation-"))
        path = self._folder / "data" / "database.sqlite3"
        copy_database(self.migrated, path)
        self._runner = asyncio.Runner(loop_factory=PatientLoop)
        self._ends = AsyncExitStack()
        self._number = 0
        self._run = self._runner.run
        self.world: Isolation = self._run(self._begin(path))

    async def _begin(self, path: Path) -> Isolation:
        world = await begin(path, self._ends, free_ports(PORTS) if self.has_ports else range(0))
        await world.hub.add_account(ADA)
        await world.hub.add_account(BOB)
        await world.hub.apps.add(APP, "App", ["https://app.example/"])
        return world

    def teardown(self) -> None:
        """Leave nothing behind."""
        self._run(self._ends.aclose())
        self._runner.close()
        shutil.rmtree(self._folder)

    # --- what happens -----------------------------------------------------------------------------

    @initialize()
    def begin_with_two_homes(self) -> None:
        for name, email in (("red", ADA), ("green", BOB)):
            self._run(self.world.connect_agent(name))
            self._run(self.world.link(name, email))
            self._run(self.world.add_connection(name))
        self._run(self.world.share("red", "1"))
        self._run(self.world.open_own_host("green"))

    @rule(name=printers)
    def connect_agent(self, name: str) -> None:
        """For the first time, again, or a second one with the same key."""
        self._run(self.world.connect_agent(name))

    @rule(pick=picks)
    def disconnect_agent(self, pick: int) -> None:
        if not self.world.agents:
            return
        self._run(self.world.disconnect_agent(picked(self.world.agents, pick)))

    @rule(pick=picks, email=st.sampled_from([ADA, BOB]))
    def link(self, pick: int, email: str) -> None:
        if not (self.world.to_be_linked and not self.world.bus.is_losing):
            return
        self._run(self.world.link(picked(self.world.to_be_linked, pick), email))

    @rule(pick=picks)
    def unlink(self, pick: int) -> None:
        if not self.world.owners:
            return
        self._run(self.world.unlink(picked(self.world.owners, pick)))

    @rule(pick=picks)
    def add_connection(self, pick: int) -> None:
        if not self.world.owners:
            return
        if len(self.world.accesses) < MAX_CONNECTIONS:
            self._run(self.world.add_connection(picked(self.world.owners, pick)))

    @rule(pick=picks, hours=st.sampled_from(["1", "24"]))
    def share(self, pick: int, hours: str) -> None:
        if not self.world.owners:
            return
        if len(self.world.accesses) < MAX_CONNECTIONS:
            self._run(self.world.share(picked(self.world.owners, pick), hours))

    @rule(pick=picks)
    def open_own_host(self, pick: int) -> None:
        if not self.world.owners:
            return
        if len(self.world.accesses) < MAX_CONNECTIONS:
            self._run(self.world.open_own_host(picked(self.world.owners, pick)))

    @rule(pick=picks)
    def revoke(self, pick: int) -> None:
        self._run(self.world.revoke(self.world.accesses[pick % len(self.world.accesses)]))

    @rule()
    def let_half_a_day_pass(self) -> None:
        if not any(one.is_own or one.expires_at for one in self.world.accesses):
            return
        self._run(self.world.let_half_a_day_pass())

    @rule()
    def lose_notices(self) -> None:
        self.world.bus.is_losing = True

    @rule()
    def find_out_without_notices(self) -> None:
        if not self.world.bus.is_losing:
            return
        self._run(self.world.pass_time(int(GRANT_TTL_S) + 1))
        self.world.bus.is_losing = False

    # --- what must hold ---------------------------------------------------------------------------

    @invariant()
    def each_connection_opens_its_own_printer_and_no_other(self) -> None:
        self._run(self._try_all())

    async def _try_all(self) -> None:
        """Each with a proof of its own, and with another's; by turns, over many steps."""
        everyone = self.world.accesses
        for at, access in enumerate(everyone):
            turn = self._number + at
            proof = access.proofs[turn % len(access.proofs)]
            await self._ask(access, proof, may_enter=self._may_enter(access))
            others = [one for one in everyone if not _is_same_door(one, access)]
            if others:
                wrong = others[turn % len(others)].proofs
                await self._ask(access, wrong[turn % len(wrong)], may_enter=False)

    async def _ask(self, access: Access, proof: Proof, *, may_enter: bool | None) -> None:
        """One request, with planted cookies beside its proof. may_enter: None where it depends."""
        self._number += 1
        target = b"/request-%d" % self._number
        fields = list(proof.fields)
        if not access.is_own:
            fields.append(b"Cookie: " + self.world.planted_cookies(access))
        host = self._host(access)
        raw = request(host, *fields, target=target + proof.query)
        answer = await self.world.ask(raw, access.port)
        reached = self.world.news()
        if may_enter is not None:
            assert answer.status in (LIVE if may_enter else REFUSED), answer
        if answer.status == 200:
            assert [one.printer for one in reached] == [access.printer]
            assert answer.body == target
            self._check(access, target, host, reached[0])
        else:
            assert reached == []

    def _host(self, access: Access) -> bytes:
        """What the caller names. At a port that counts for nothing, so it may be another's."""
        if access.port is None:
            return access.host
        return self.world.accesses[self._number % len(self.world.accesses)].host

    def _may_enter(self, access: Access) -> bool | None:
        now = self._runner.get_loop().time()
        if access.ended_at is None:
            return True if now >= access.surely_at else None
        recent = access.ended_at + GRANT_TTL_S > now
        return None if recent and not access.was_told else False

    def _check(self, access: Access, target: bytes, host: bytes, reached: Reached) -> None:
        """What the printer saw is the request, and nothing that is somebody else's or ours."""
        asked = reached.asked
        assert asked.target == target
        assert asked.all(b"host") == [host]
        for one in self.world.accesses:
            for secret in one.secrets:
                assert secret not in asked.opened.head
            if one.host != host:
                assert one.host not in asked.opened.head


def _is_same_door(one: Access, other: Access) -> bool:
    """One connection, or one port that has changed hands: what opens the one opens the other."""
    has_changed_hands = one.port is not None and one.port == other.port
    return has_changed_hands or one.connection_id == other.connection_id


@pytest.mark.parametrize("has_ports", [False, True], ids=["hosts", "ports"])
def test_no_connection_reaches_anothers_printer(migrated: Path, has_ports: bool) -> None:
    machine = type("Machine", (Everybody,), {"migrated": migrated, "has_ports": has_ports})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=20,
            stateful_step_count=30,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
