"""The agent's side of the handshake: sign-in, linking, and control messages after it."""

import logging
from collections.abc import Callable
from typing import assert_never

from printreach import __version__
from printreach.agent.keys import ServicePin, is_signed_by
from printreach.agent.outbox import EventSender
from printreach.agent.runtime import AgentContext, LanPlace
from printreach.agent.state import ShownLinkCode
from printreach.contract import signin
from printreach.contract.unset import UNSET
from printreach.languages import N_
from printreach.rules.printers.signin import Signer, statement

log = logging.getLogger(__name__)

CLOCK_TOLERANCE_S = 60.0


class ServiceRefused(Exception):
    """The other end is not the service that the agent was linked with, or breaks the protocol."""


class AgentHandshake:
    """The handshake and the control messages over one tunnel.

    send_message: sends a control message. was_linked: it was last announced that the agent is
    linked, so it is not announced again. stores_events: the service accepts events. agent_run: what
    a service with standby tunnels is told; None for others. is_standby: it is dialled beside the
    primary tunnel, to which everything but requests belongs, until `become_primary`.
    """

    def __init__(
        self,
        context: AgentContext,
        send_message: Callable[[bytes], None],
        *,
        was_linked: bool,
        stores_events: bool = False,
        agent_run: str | None = None,
        is_standby: bool = False,
    ) -> None:
        self._context = context
        self._send_message = send_message
        self.was_linked = was_linked
        self._nonce = context.machine.token_bytes(signin.NONCE_BYTES)
        self._service_key: bytes | None = None  # once its signature was checked
        self.is_serving = False
        self._agent_run = agent_run
        self._is_standby = is_standby
        self._is_locked = False  # as the service says; older ones don't
        self._has_ended = False
        self._lan = LanPlace(ip=None)  # as the service knows it
        outbox = context.commanded.outbox if context.commanded is not None else None
        self._events = (
            EventSender(outbox, send_message) if outbox is not None and stores_events else None
        )

    def begin(self) -> None:
        config = self._context.config
        self._lan = self._context.find_lan_address()
        hello = signin.Hello(
            public_key=self._context.key.public_key,
            nonce=self._nonce,
            service_host=config.service.authority,
            agent_version=__version__,
            platform=config.kind.name,
            lan_ip=self._lan.ip,
            lan_port=self._lan.port,
            agent_run=UNSET if self._agent_run is None else self._agent_run,
            is_standby=True if self._is_standby else UNSET,
        )
        self._send_message(signin.encode(hello))

    def become_primary(self) -> None:
        """Go on with this tunnel, because the primary one has ended. It serves."""
        self._is_standby = False
        self.was_linked = True
        self._send_message(signin.encode(signin.Primary()))
        self._tell_lock()
        self.look_for_lan_address()
        if self._events is not None:
            self._events.begin()

    def look_for_lan_address(self) -> None:
        """Tell the service the agent's address on the local network, if that has changed."""
        if self._is_standby:
            return
        found = self._context.find_lan_address()
        if self.is_serving and found.ip is not None and found != self._lan:
            self._lan = found
            message = signin.LanAddress(lan_ip=found.ip, lan_port=found.port)
            self._send_message(signin.encode(message))

    def on_message(self, payload: bytes) -> None:
        """Act on a message. Raises ServiceRefused."""
        try:
            message = signin.decode_from_service(payload)
        except signin.BadSignInMessage as exc:
            raise ServiceRefused(f"The service said something unreadable: {exc}.") from exc
        match message:
            case signin.Challenge() if self._service_key is None:
                self._check(message)
            case signin.Challenge():
                raise ServiceRefused("The service asked for a second signature.")
            case _ if self._service_key is None:
                raise ServiceRefused("The service did not prove who it is.")
            case signin.LinkOffer() | signin.Linked() if self._is_standby:
                raise ServiceRefused("The service doesn't know this printer on its second tunnel.")
            case signin.LinkOffer():
                self._show_code(message)
            case signin.Linked():
                self._forget_owner()
                self._pin(self._service_key, message.printer_name)
                self.was_linked = False
                self._serve(message.printer_name)
            case signin.Welcome():
                self._welcomed(self._service_key, message)
            case signin.RemoteControl(is_locked=is_locked):
                self._is_locked = is_locked
                if self._is_standby:
                    return
                if is_locked or self.is_serving:
                    log.warning("remote control is %s", "locked" if is_locked else "unlocked")
                if self.is_serving:
                    self._tell_lock()
            case signin.Detector():
                if self._context.commanded is not None:
                    self._context.commanded.detector.update(message)
            case signin.MakeHostApiKey() if not self.is_serving:
                raise ServiceRefused("The service asked for a key of a printer that isn't linked.")
            case signin.MakeHostApiKey():
                self._make_host_api_key(message)
            case signin.EventsStored(event_ids=event_ids):
                if self._events is not None:
                    self._events.stored(event_ids)
            case _:
                assert_never(message)

    def end(self) -> None:
        """Send nothing more unasked: the tunnel has ended, or is being left.

        What it says of a lock from now on is out of date: the next tunnel knows better.
        """
        if self.is_serving and not self._has_ended and not self._is_standby:
            self._context.remote_lock.lost()
        self._has_ended = True
        if self._events is not None:
            self._events.end()

    def _check(self, challenge: signin.Challenge) -> None:
        context = self._context
        pin = context.pins.get(str(context.config.service))
        if pin is None and self._is_standby:
            raise ServiceRefused("The key of the service is not pinned yet.")
        if pin is not None and challenge.service_key not in pin.public_keys:
            raise ServiceRefused(
                f"{context.config.service} shows another key than the service this printer was"
                " linked with: somebody may stand between. If the service was set up anew, remove"
                " service.json from the data directory and link the printer again."
            )
        if not is_signed_by(
            challenge.service_key, self._said_by(Signer.SERVICE, challenge), challenge.signature
        ):
            raise ServiceRefused(f"{context.config.service} can't sign with the key it shows.")
        self._service_key = challenge.service_key
        self._compare_clocks(challenge.time_unix_s)
        if context.commanded is not None:
            context.commanded.clock.set(challenge.time_unix_s)
        proof = signin.Proof(signature=context.key.sign(self._said_by(Signer.AGENT, challenge)))
        self._send_message(signin.encode(proof))

    def _said_by(self, signer: Signer, challenge: signin.Challenge) -> bytes:
        return statement(
            signer,
            service_host=self._context.config.service.authority,
            service_key=challenge.service_key,
            service_nonce=challenge.nonce,
            agent_key=self._context.key.public_key,
            agent_nonce=self._nonce,
        )

    def _compare_clocks(self, service_unix_s: float) -> None:
        offset_s = service_unix_s - self._context.machine.unix_time()
        self._context.state.clock_is_off(round(offset_s, 1))
        if abs(offset_s) > CLOCK_TOLERANCE_S:
            log.warning("This machine's clock is %.0f s off the service's", -offset_s)

    def _show_code(self, offer: signin.LinkOffer) -> None:
        context = self._context
        now = context.machine.monotonic()
        try:
            shown = ShownLinkCode(
                code=offer.link_code,
                link_url=offer.link_url,
                expires_at=now + offer.expires_in_sec,
            )
        except ValueError as exc:
            raise ServiceRefused(f"The service offered no usable link code: {exc}.") from exc
        self._keep(lambda: context.pins.drop(str(context.config.service)))
        self._forget_owner()
        context.remote_lock.set_locked(is_locked=True)  # the printer has no owner
        self.is_serving = False
        self.was_linked = False
        context.state.unlinked(shown)
        context.announce.link_code(shown, now)

    def _welcomed(self, service_key: bytes, welcome: signin.Welcome) -> None:
        if self._is_standby:
            self.is_serving = True
            return
        context = self._context
        pin = context.pins.get(str(context.config.service))
        if pin is None:
            log.warning("The service knows this printer; its key is pinned from now on")
        if pin is None or pin.printer_name != welcome.printer_name:
            self._pin(service_key, welcome.printer_name)
        self._serve(welcome.printer_name)

    def _pin(self, service_key: bytes, printer_name: str) -> None:
        pin = ServicePin(public_keys=(service_key,), printer_name=printer_name)
        self._keep(lambda: self._context.pins.put(str(self._context.config.service), pin))

    def _make_host_api_key(self, request: signin.MakeHostApiKey) -> None:
        if self._context.commanded is not None:
            self._context.commanded.host_api_keys.request_key(request, self._send_message)
        else:
            sentence = N_("This printer can't make API keys for apps.")
            answer = signin.HostApiKey(request_id=request.request_id, error=sentence)
            self._send_message(signin.encode(answer))

    def _keep(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as exc:
            folder = self._context.config.data_dir
            raise ServiceRefused(
                f"service.json in {folder} can't be written: {exc.strerror}."
            ) from exc

    def _serve(self, printer_name: str) -> None:
        self.is_serving = True
        self._tell_lock()
        if not self.was_linked:
            self.was_linked = True
            self._context.announce.linked(self._context.key.printer_id)
        self._context.state.linked(printer_name)
        self._context.state.connected()
        self._context.announce.connected()
        if self._events is not None:
            self._events.begin()

    def _tell_lock(self) -> None:
        if not self._has_ended:
            self._context.remote_lock.set_locked(is_locked=self._is_locked)

    def _forget_owner(self) -> None:
        """Drop what was for the account that the printer had, since it has none now."""
        if self._context.commanded is not None:
            self._context.commanded.outbox.clear()
            self._context.commanded.temperatures.clear()
