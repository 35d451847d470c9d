"""One agent's connection, from its WebSocket to its end."""

import asyncio
import contextlib
import logging
from dataclasses import replace
from urllib.parse import urlsplit

from printreach.contract import signin
from printreach.contract.unset import UnsetType
from printreach.ports import Topic
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.printers import LinkedPrinter
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.session import Role, Session

from .agent_dependencies import AgentContext, AgentDependencies
from .agent_note import AgentNote
from .commands import AgentClock
from .detector_status import DetectorStatusSender
from .event_intake import BadEvents, EventIntake
from .route import Route
from .sign_in import SignInRefused, SignInTransport, sign_in
from .unsigned_agents import UnsignedLink, UnsignedSlot, may_get_link_code

log = logging.getLogger(__name__)

SIGN_IN_TIMEOUT_S = 10.0
MAX_WAITING_MESSAGES = 16


class TooManyLinkCodes(Exception):
    """Agents that aren't linked ask for more codes than one address may have."""


class StandbyNotTaken(Exception):
    """An agent's second tunnel has nothing to stand by here.

    code: tells the agent why. The text goes to it, too.
    """

    def __init__(self, code: CloseCode, text: str) -> None:
        super().__init__(text)
        self.code = code


class AgentConnection:
    """One agent's connection: sign-in, linking, then serving, and its tunnel.

    A standby tunnel carries requests, and all else comes once the agent says that it is its primary
    one: the agent's events, what the failure detector says, and that its printer is online.
    """

    def __init__(
        self,
        dependencies: AgentDependencies,
        context: AgentContext,
        link: UnsignedLink,
        peer: str,
        slot: UnsignedSlot,
    ) -> None:
        self._dependencies = dependencies
        self._link = link
        self._slot = slot
        self._context = context
        self._peer = peer
        self._loop = asyncio.get_running_loop()
        # A queue takes 3 KiB, and there may be thousands of agents: it is dropped after sign-in.
        self._inbox: asyncio.Queue[signin.FromAgent] | None = asyncio.Queue(MAX_WAITING_MESSAGES)
        # Not an Event, which takes 0.7 KiB.
        self._must_recheck = False
        self._waiting: asyncio.Future[None] | None = None
        self._printer_id = ""  # until sign-in is over
        self.account_id: str | None = ""
        self._sent_lock: bool | None = None
        self._agent_clock: AgentClock  # once sign-in has begun
        self._note: AgentNote  # once sign-in is over
        self._is_serving = False
        self._is_standby = False
        self._detector_status: DetectorStatusSender | None = None  # once it serves as primary
        self._events: EventIntake | None = None  # once it is welcome as primary
        self._understands: frozenset[str] = frozenset()
        session = Session(Role.HUB, now=self._loop.time(), capabilities=dependencies.capabilities)
        self.tunnel = Tunnel(session, link, self, context.shared_timer)
        self.task = asyncio.create_task(self._run())
        self.tunnel.start()

    @property
    def is_serving(self) -> bool:
        """True once the printer is linked and its requests may come."""
        return self._is_serving

    # --- TunnelHandler --------------------------------------------------------------------------

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None:
        self._understands = capabilities

    def on_stream(self, stream: Stream, _opened: StreamOpened) -> None:
        stream.reset(Reason.REFUSED)  # unreachable: the session refuses it before

    def on_tunnel_message(self, payload: bytes) -> None:
        try:
            message = signin.decode_from_agent(payload)
        except signin.BadSignInMessage as exc:
            self.tunnel.close(CloseCode.NOT_WELCOME, f"a message can't be read: {exc}")
            return
        if isinstance(message, signin.Events):
            self._on_events(message)
        elif self._inbox is None:
            self._on_late_message(message)
        elif self._inbox.full():
            self.tunnel.close(CloseCode.NOT_WELCOME, "too many messages at once")
        else:
            self._inbox.put_nowait(message)

    def on_tunnel_draining(self) -> None:
        pass

    def on_tunnel_closed(self, code: int | None, text: str) -> None:
        log.info("agent %s left (%s) %r", self._printer_id or self._peer, code, text)
        self.task.cancel()

    # --- sign-in, linking and serving -----------------------------------------------------------

    async def _run(self) -> None:
        try:
            async with asyncio.timeout(SIGN_IN_TIMEOUT_S):
                hello = await self._sign_in()
            self._slot.leave()
            self._is_standby = hello.is_standby is True
            printer = await self._wait_until_linked(hello.public_key)
            await self._serve(printer, hello)
            self.tunnel.close(CloseCode.UNLINKED, "the printer was removed")
        except TimeoutError:
            self.tunnel.close(CloseCode.NOT_WELCOME, "sign-in took longer than 10 s")
        except SignInRefused as refusal:
            log.warning("agent from %s refused: %s", self._peer, refusal)
            self.tunnel.close(CloseCode.NOT_WELCOME, str(refusal))
        except StandbyNotTaken as reason:
            self.tunnel.close(reason.code, str(reason))
        except TooManyLinkCodes:
            log.warning("too many agents from %s wait to be linked", self._peer)
            text = "too many printers at this address wait to be linked; try again in a minute"
            self.tunnel.close(CloseCode.OVERLOADED, text)
        except asyncio.CancelledError:
            # An agent that leaves ends this task. The exception, kept in the task, would hold its
            # frames, and thereby this connection.
            if not self.tunnel.is_closed:
                raise
        except Exception:
            log.exception("an agent's connection failed")
            self.tunnel.close(CloseCode.OVERLOADED, "the service could not serve this agent")
        finally:
            self._slot.leave()
            self._context.printer_subscriptions.remove(self._printer_id, self)
            if self._events is not None:
                self._events.close()
            # Both hold this connection. They would be freed only by the next garbage collection,
            # which is hours away where thousands of agents are connected.
            self._events = self._detector_status = None

    async def _sign_in(self) -> signin.Hello:
        inbox = self._inbox
        assert inbox is not None
        dependencies, now = self._dependencies, self._dependencies.clock.now()
        self._agent_clock = AgentClock(now.timestamp(), self._loop.time())
        hello = await sign_in(
            SignInTransport(receive=inbox.get, send=self._send),
            dependencies.identity,
            own_host=urlsplit(dependencies.base_url).netloc,
            nonce=dependencies.token_bytes(signin.NONCE_BYTES),
            now=now,
        )
        self._printer_id = printer_id_of(hello.public_key)
        self._note = AgentNote(
            dependencies.agents, dependencies.clock, dependencies.node_id, self._printer_id, hello
        )
        self._context.printer_subscriptions.add(self._printer_id, self)
        self._inbox = None
        while not inbox.empty():
            self._on_late_message(inbox.get_nowait())
        return hello

    def _on_late_message(self, message: signin.FromAgent) -> None:
        """Handle a message after sign-in. A new address is stored at the next recheck."""
        match message:
            case signin.LanAddress():
                self._note.on_lan_address(message)
            case signin.HostApiKey():
                self._context.host_keys.on_answer(self._printer_id, message)
            case signin.Primary() if self._is_serving and self._is_standby:
                self._become_primary()
            case _:
                self.tunnel.close(CloseCode.NOT_WELCOME, "sign-in is over")

    def _on_events(self, message: signin.Events) -> None:
        try:
            if self._events is None:
                is_standby = "a standby tunnel carries none"
                no_owner = "this printer belongs to no account yet"
                raise BadEvents(is_standby if self._is_standby else no_owner)
            self._events.receive(message.events)
        except BadEvents as refusal:
            log.warning("events of %s refused: %s", self._printer_id or self._peer, refusal)
            self.tunnel.close(CloseCode.NOT_WELCOME, str(refusal))

    async def _wait_until_linked(self, public_key: bytes) -> LinkedPrinter:
        """Offer link codes until one was entered."""
        printer = await self._look_up()
        if self._is_standby:
            self._check_standby(printer)
        if printer is not None:
            self._welcome(printer)
            self._send(signin.Welcome(printer_id=self._printer_id, printer_name=printer.name))
            return printer
        while True:
            left_s = await self._offer(public_key)
            printer = await self._linked_within(left_s)
            if printer is not None:
                self._welcome(printer)
                self._send(signin.Linked(printer_id=self._printer_id, printer_name=printer.name))
                return printer

    def _check_standby(self, printer: LinkedPrinter | None) -> None:
        """Raises StandbyNotTaken."""
        if printer is None:
            raise StandbyNotTaken(CloseCode.UNLINKED, "this printer belongs to no account")
        here = self._context.directory.find_here(self._printer_id)
        if here is not None and not here.is_standby:
            text = "this node has the primary tunnel: dial again, for another node"
            raise StandbyNotTaken(CloseCode.SAME_NODE, text)

    def _welcome(self, printer: LinkedPrinter) -> None:
        """Trust the agent from the message that tells it that its printer is linked.

        Anybody can make a key and sign in with it, but this printer has an owner. The agent is told
        of a lock first, so that it carries on with nothing that the lock ends.
        """
        self._link.trust()
        self._send_lock(printer)
        if not self._is_standby:
            self._take_events()

    def _take_events(self) -> None:
        dependencies, limiter = self._dependencies, self._context.event_limiter
        self._events = EventIntake(dependencies.events, limiter, self._printer_id, self._send)

    async def _offer(self, public_key: bytes) -> float:
        """Offer a code; return how many seconds it is valid. Raises TooManyLinkCodes."""
        if not may_get_link_code(self._dependencies.tries, self._peer):
            raise TooManyLinkCodes
        agents, clock = self._dependencies.agents, self._dependencies.clock
        code = await agents.offer_link_code(self._printer_id, public_key, clock.now())
        left_s = (code.expires_at - clock.now()).total_seconds()
        self._send(
            signin.LinkOffer(
                link_code=code.code,
                link_url=f"{self._dependencies.base_url}/link?code={code.code}",
                expires_in_sec=int(left_s),
            )
        )
        return left_s

    async def _linked_within(self, timeout_s: float) -> LinkedPrinter | None:
        deadline = self._loop.time() + timeout_s
        while self._loop.time() < deadline:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    await self._wait_for_notice()
            printer = await self._look_up()
            if printer is not None:
                return printer
        return None

    async def _look_up(self) -> LinkedPrinter | None:
        # Until the answer is here, a notice about any account may make it out of date.
        self.account_id = None
        printer = await self._dependencies.agents.linked_printer(self._printer_id)
        self.account_id = "" if printer is None else printer.account_id
        return printer

    def _send_lock(self, printer: LinkedPrinter) -> None:
        """Tell the agent whether anybody may control the printer, unless it knows."""
        is_locked = printer.refuses_control
        if signin.REMOTE_CONTROL in self._understands and is_locked is not self._sent_lock:
            self._send(signin.RemoteControl(is_locked=is_locked))
        self._sent_lock = is_locked

    async def _serve(self, printer: LinkedPrinter, hello: signin.Hello) -> None:
        """Serve requests until the printer is removed or the agent leaves."""
        self._is_serving = True
        route = Route(
            tunnel=self.tunnel,
            clock=self._agent_clock,
            platform=hello.platform,
            capabilities=self.tunnel.capabilities,
            agent_run="" if isinstance(hello.agent_run, UnsetType) else hello.agent_run,
            is_standby=self._is_standby,
        )
        self._context.directory.put(self._printer_id, route)
        role = "stands by for" if self._is_standby else "serves"
        log.info("agent %s %s %r", self._printer_id, role, printer.name)
        if not self._is_standby:
            self._tell_detector_status()
        if signin.HOST_API_KEYS in self._understands:
            self._context.host_keys.add_agent(self._printer_id, self._send)
        try:
            await self._keep_presence()
        finally:
            self._context.host_keys.remove_agent(self._printer_id, self._send)
            if self._detector_status is not None:
                self._detector_status.close()
            was_the_newest = self._context.directory.drop(self._printer_id, self.tunnel)
            if was_the_newest and not self._is_standby:
                await self._note.end()

    def _become_primary(self) -> None:
        """The agent has lost its primary tunnel, and goes on with this one."""
        log.info("agent %s goes on with its standby tunnel", self._printer_id)
        self._is_standby = False
        directory = self._context.directory
        route = directory.find_here(self._printer_id)
        if route is not None and route.tunnel is self.tunnel:
            directory.put(self._printer_id, replace(route, is_standby=False))
        self._take_events()
        self._tell_detector_status()
        self._recheck_soon()  # so that its address is stored

    def _tell_detector_status(self) -> None:
        if signin.DETECTOR_NEWS in self._understands:
            dependencies = self._dependencies
            self._detector_status = DetectorStatusSender(
                dependencies.detector, dependencies.clock, self._printer_id, self._send
            )
            self._detector_status.tell()

    async def _keep_presence(self) -> None:
        """Store the agent's address, now and when it changes, until the printer is removed.

        Meanwhile the agent is told of each lock of remote control, and of its end.
        """
        while True:
            if not (self._note.is_noted or self._is_standby):
                await self._note.put()
            await self._wait_for_notice()
            try:
                printer = await self._look_up()
            except Exception:
                log.exception("could not check again whether a printer is linked")
                continue
            if printer is None:
                return
            self._send_lock(printer)

    async def _wait_for_notice(self) -> None:
        if not self._must_recheck:
            self._waiting = self._loop.create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        self._must_recheck = False

    # --- Subscriber -----------------------------------------------------------------------------

    def on_recheck(self, is_linked: bool, *, refuses_control: bool) -> None:
        is_noted = self._is_standby or self._note.is_noted
        is_out_of_date = not is_noted or refuses_control is not self._sent_lock
        if is_linked != self._is_serving or (is_linked and is_out_of_date):
            self._recheck_soon()

    def on_notice(self, topic: Topic) -> None:
        if topic in (Topic.PRINTER, Topic.ACCOUNT):
            self._recheck_soon()
        elif topic is Topic.DETECTOR and self._detector_status is not None:
            self._detector_status.tell()

    # --- helpers --------------------------------------------------------------------------------

    def _recheck_soon(self) -> None:
        self._must_recheck = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _send(self, message: signin.FromService) -> None:
        self.tunnel.message(signin.encode(message))
