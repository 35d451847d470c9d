"""Accepting agents: sign-in, linking, and what becomes of a linked printer's tunnel."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from printreach.contract import signin
from printreach.ports import Agents, Bus, Clock, Notice, Topic
from printreach.rules.credentials import printer_id_of
from printreach.rules.linking import LinkedPrinter
from printreach.rules.signin import Signer, statement
from printreach.tunnel.link import Link
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.session import Role, Session

from .directory import Directory

log = logging.getLogger(__name__)

SIGN_IN_TIMEOUT_S = 10.0
MAX_WAITING_MESSAGES = 16
RECHECK_S = 30.0
"""How soon a linked or removed printer is noticed where the notice was lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """The service's own Ed25519 key, which agents pin when they are linked."""

    public_key: bytes
    sign: Callable[[bytes], bytes]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentsOutside:
    """What accepting agents needs of the outside."""

    agents: Agents
    bus: Bus
    clock: Clock
    identity: Identity
    token_bytes: Callable[[int], bytes]
    node_id: str
    base_url: str


class AgentDesk:
    """Receives agents and keeps their tunnels."""

    def __init__(self, outside: AgentsOutside, directory: Directory) -> None:
        self._outside = outside
        self._directory = directory
        self._visitors: set[AgentVisit] = set()

    def accept(self, link: Link, peer: str) -> None:
        visit = AgentVisit(self._outside, self._directory, link, peer, self._visitors.discard)
        self._visitors.add(visit)

    def __len__(self) -> int:
        return len(self._visitors)

    def drain(self) -> None:
        """Ask agents to move: they connect anew at once, and finish here what runs."""
        for visit in self._visitors:
            visit.tunnel.drain()

    async def close(self) -> None:
        """Tell every agent to connect again, elsewhere or in a moment."""
        visitors = list(self._visitors)
        for visit in visitors:
            visit.tunnel.close(CloseCode.RESTARTING, "the service restarts")
        await asyncio.gather(*(visit.task for visit in visitors), return_exceptions=True)


class _Refused(Exception):
    """Sign-in failed; the text goes to the agent and into the log."""


class AgentVisit:
    """One agent's connection, from its WebSocket to its end."""

    def __init__(
        self,
        outside: AgentsOutside,
        directory: Directory,
        link: Link,
        peer: str,
        on_over: Callable[["AgentVisit"], None],
    ) -> None:
        self._outside = outside
        self._directory = directory
        self._peer = peer
        self._inbox: asyncio.Queue[signin.FromAgent] = asyncio.Queue(MAX_WAITING_MESSAGES)
        self._recheck = asyncio.Event()
        self._printer_id = ""
        self._hello: signin.Hello | None = None
        session = Session(Role.HUB, now=asyncio.get_running_loop().time())
        self.tunnel = Tunnel(session, link, self)
        self.task = asyncio.create_task(self._run())
        self.task.add_done_callback(lambda _: on_over(self))
        self.tunnel.start()

    # --- TunnelOwner ----------------------------------------------------------------------------

    def on_tunnel_ready(self, _capabilities: frozenset[str]) -> None:
        pass

    def on_stream(self, stream: Stream, _opened: StreamOpened) -> None:
        stream.reset(Reason.REFUSED)  # the session refuses it before

    def on_tunnel_message(self, payload: bytes) -> None:
        try:
            self._inbox.put_nowait(signin.decode_from_agent(payload))
        except signin.BadSignInMessage as exc:
            self.tunnel.close(CloseCode.NOT_WELCOME, f"a message can't be read: {exc}")
        except asyncio.QueueFull:
            self.tunnel.close(CloseCode.NOT_WELCOME, "too many messages at once")

    def on_tunnel_draining(self) -> None:
        pass

    def on_tunnel_closed(self, code: CloseCode | int | None, text: str) -> None:
        log.info("agent %s left (%s) %s", self._printer_id or self._peer, code, text)
        self.task.cancel()

    # --- the conversation -----------------------------------------------------------------------

    async def _run(self) -> None:
        unsubscribe = self._outside.bus.subscribe(self._on_notice)
        try:
            async with asyncio.timeout(SIGN_IN_TIMEOUT_S):
                self._hello = await self._sign_in()
            printer = await self._wait_until_linked(self._hello.public_key)
            await self._serve(printer, self._hello)
        except TimeoutError:
            self.tunnel.close(CloseCode.NOT_WELCOME, "sign-in took longer than 10 s")
        except _Refused as refusal:
            log.warning("agent from %s refused: %s", self._peer, refusal)
            self.tunnel.close(CloseCode.NOT_WELCOME, str(refusal))
        except Exception:
            log.exception("an agent's connection failed")
            self.tunnel.close(CloseCode.OVERLOADED, "the service could not serve this agent")
        finally:
            unsubscribe()
            self._directory.drop(self._printer_id, self.tunnel)

    async def _sign_in(self) -> signin.Hello:
        hello = await self._inbox.get()
        if not isinstance(hello, signin.Hello):
            raise _Refused("sign-in begins with Hello")
        if len(hello.public_key) != 32 or len(hello.nonce) != signin.NONCE_BYTES:
            raise _Refused("a key and a nonce have 32 bytes each")
        identity = self._outside.identity
        nonce = self._outside.token_bytes(signin.NONCE_BYTES)

        def said_by(signer: Signer) -> bytes:
            return statement(
                signer,
                service_host=hello.service_host,
                service_key=identity.public_key,
                service_nonce=nonce,
                agent_key=hello.public_key,
                agent_nonce=hello.nonce,
            )

        challenge = signin.Challenge(
            service_key=identity.public_key,
            nonce=nonce,
            signature=identity.sign(said_by(Signer.SERVICE)),
            time_unix_sec=int(self._outside.clock.now().timestamp()),
        )
        self._say(challenge)
        proof = await self._inbox.get()
        if not isinstance(proof, signin.Proof):
            raise _Refused("Proof was due")
        if not _is_signed(hello.public_key, proof.signature, said_by(Signer.AGENT)):
            raise _Refused("the signature is not this key's")
        self._printer_id = printer_id_of(hello.public_key)
        return hello

    async def _wait_until_linked(self, public_key: bytes) -> LinkedPrinter:
        """Offer codes until one was entered."""
        agents, clock = self._outside.agents, self._outside.clock
        printer = await agents.linked_printer(self._printer_id)
        if printer is not None:
            welcome = signin.Welcome(printer_id=self._printer_id, printer_name=printer.name)
            self._say(welcome)
            return printer
        while True:
            code = await agents.offer_link_code(self._printer_id, public_key, clock.now())
            left_s = (code.expires_at - clock.now()).total_seconds()
            self._say(
                signin.LinkOffer(
                    link_code=code.code,
                    link_url=f"{self._outside.base_url}/link?code={code.code}",
                    expires_in_sec=int(left_s),
                )
            )
            printer = await self._linked_within(left_s)
            if printer is not None:
                self._say(signin.Linked(printer_id=self._printer_id, printer_name=printer.name))
                return printer

    async def _linked_within(self, patience_s: float) -> LinkedPrinter | None:
        deadline = asyncio.get_running_loop().time() + patience_s
        while (left_s := deadline - asyncio.get_running_loop().time()) > 0:
            await self._noticed(min(left_s, RECHECK_S))
            printer = await self._outside.agents.linked_printer(self._printer_id)
            if printer is not None:
                return printer
        return None

    async def _serve(self, printer: LinkedPrinter, hello: signin.Hello) -> None:
        """Carry requests until the printer is removed or the agent leaves."""
        agents, clock, node_id = self._outside.agents, self._outside.clock, self._outside.node_id
        lan_ip = hello.lan_ip
        self._directory.put(self._printer_id, self.tunnel)
        log.info("agent %s serves %r", self._printer_id, printer.name)
        try:
            while True:
                await agents.agent_connected(
                    self._printer_id,
                    node_id,
                    clock.now(),
                    lan_ip=lan_ip,
                    agent_version=hello.agent_version,
                    platform=hello.platform,
                )
                lan_ip = await self._until_news(lan_ip)
                if await agents.linked_printer(self._printer_id) is None:
                    self.tunnel.close(CloseCode.UNLINKED, "the printer was removed")
                    return
        finally:
            if self._directory.drop(self._printer_id, self.tunnel):
                # Shielded: presence must be right also when the tunnel's end cancels this task.
                await asyncio.shield(
                    agents.agent_disconnected(self._printer_id, node_id, clock.now())
                )

    async def _until_news(self, lan_ip: str | None) -> str | None:
        """Wait for a notice about the printer, or for another LAN address; the address then."""
        while True:
            await self._noticed(RECHECK_S)
            while not self._inbox.empty():
                message = self._inbox.get_nowait()
                if isinstance(message, signin.LanAddress):
                    return message.lan_ip
            if await self._outside.agents.linked_printer(self._printer_id) is None:
                return lan_ip

    async def _noticed(self, patience_s: float) -> None:
        try:
            await asyncio.wait_for(self._recheck.wait(), patience_s)
        except TimeoutError:
            pass  # look all the same: a notice may be lost
        self._recheck.clear()

    def _on_notice(self, notice: Notice) -> None:
        if notice.topic is Topic.PRINTER and notice.key == self._printer_id:
            self._recheck.set()

    def _say(self, message: signin.FromService) -> None:
        self.tunnel.message(signin.encode(message))


def _is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
