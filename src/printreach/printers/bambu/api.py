"""A printer's MQTT broker: reports, orders and their answers.

Its TLS certificate proves nothing, but names the printer.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cryptography import x509
from cryptography.x509.oid import NameOID

from printreach.contract.commands import CommandStatus
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import (
    MAX_MQTT_MESSAGE_BYTES,
    not_authorized,
    unreachable,
    unverified_tls,
)
from printreach.printers.following import Answers
from printreach.printers.loose import Json
from printreach.printers.mqtt import MqttClient, reason_of, unknown_serial
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.setup import PrinterSetup

from .orders import Order
from .states import health_codes

USER = "bblp"
UNSIGNED = "0500-0500-0001-0007"
"""The health-list entry of a printer that refused an order because its maker has not signed it."""


class BambuApi:
    """One printer's broker. One task is connected() and listens; any may send orders."""

    def __init__(self, setup: PrinterSetup) -> None:
        self._setup = setup
        self._client: MqttClient | None = None
        self._serial = setup.serial
        self._sequence = int(setup.uniform(20_000, 1_000_000))
        self._lists_unsigned = False
        self._answers = Answers()
        self._name = in_english("The printer at %(host)s", host=setup.host)

    @property
    def where(self) -> str:
        return self._setup.host

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[AsyncIterator[object]]:
        """Yield the printer's messages while this is open. Raises PrinterRefused."""
        access_code = self._setup.access_code
        if access_code is None:
            raise not_authorized(
                in_english(
                    "%(where)s asks for its access code, which the agent has not got.",
                    where=self._name,
                )
            )
        serial, setup = await self._find_serial(), self._setup
        tls = unverified_tls()
        tls.sslsocket_class = BoundedSocket
        client = MqttClient(
            self._name, setup.host, setup.port, user=USER, password=access_code, tls=tls
        )
        async with client.connected():
            try:
                await client.subscribe(f"device/{serial}/report")
            except PrinterRefused as refused:
                # A printer refuses or disconnects where the serial number is another printer's.
                raise unknown_serial(self._name) from refused
            self._client = client
            try:
                yield self._messages(client)
            finally:
                self._client = None
                self._answers.give_up(unreachable(self._name, N_("the connection broke off")))

    async def send(self, order: Order) -> str:
        """Send without waiting for an answer; its sequence number. Raises PrinterRefused."""
        client = self._client
        if client is None:
            raise unreachable(self._name, N_("there is no connection"))
        self._sequence += 1
        number = str(self._sequence)
        message = {order.part: {"sequence_id": number, "command": order.command, **order.arguments}}
        await client.publish(f"device/{self._serial}/request", message)
        return number

    async def order(self, order: Order) -> Json:
        """Return the printer's answer. Raises PrinterRefused where that is a no, or none comes."""
        key = _key(order.command, str(self._sequence + 1))
        try:
            report = await self._answers.after(self.send(order), key)
        except PrinterRefused as refused:
            if refused.status == CommandStatus.TIMED_OUT and self._lists_unsigned:
                raise _unsigned() from None
            raise
        _require_success(report)
        return report

    async def other_serial(self) -> PrinterRefused | None:
        """Return a refusal where the printer's certificate names another serial number."""
        try:
            name = await certificate_name(self._setup.host, self._setup.port)
        except (OSError, TimeoutError):
            return None
        return None if name in (None, self._serial) else unknown_serial(self._name)

    # --- the connection ---------------------------------------------------------------------------

    async def _find_serial(self) -> str:
        """Return the serial number as it was given, else from the printer's certificate."""
        if self._serial is None:
            try:
                self._serial = await certificate_name(self._setup.host, self._setup.port)
            except (OSError, TimeoutError) as exc:
                raise unreachable(self._name, reason_of(exc)) from exc
        if not self._serial or any(sign in self._serial for sign in "/+#"):
            self._serial = self._setup.serial
            raise not_authorized(
                in_english(
                    "%(where)s has no serial number that can be read: give it.", where=self._name
                )
            )
        return self._serial

    async def _messages(self, client: MqttClient) -> AsyncIterator[object]:
        async for message in client.messages():
            report = _parsed(message.payload)
            self._settle(report)
            yield report

    # --- answers ----------------------------------------------------------------------------------

    def _settle(self, report: object) -> None:
        """Hand an answer to who waits for it."""
        for part in loose.obj(report).values():
            command, number = loose.text(part, "command"), loose.text(part, "sequence_id")
            if "result" in loose.obj(part):
                self._answers.settle(_key(command or "", number or ""), loose.obj(part))
        if "hms" in loose.obj(report, "print"):
            self._look_for_unsigned(health_codes(loose.obj(report, "print")))

    def _look_for_unsigned(self, codes: list[str]) -> None:
        """Fail waiting orders if the health list shows an unsigned order.

        Such entries stay for a while.
        """
        before, self._lists_unsigned = self._lists_unsigned, UNSIGNED in codes
        if self._lists_unsigned and not before:
            self._answers.give_up(_unsigned())


def _key(command: str, number: str) -> str:
    return f"{command} {number}"


def _parsed(payload: object) -> object:
    """Return a message, None for what is no JSON."""
    return loose.parsed(payload) if isinstance(payload, bytes | bytearray | str) else None


def _require_success(report: Json) -> None:
    result = loose.text(report, "result") or ""
    if result.lower() == "success":
        return
    reason = loose.text(report, "reason") or result or N_("it gives no reason")
    if "verif" in reason.lower() or "sign" in reason.lower():
        raise _unsigned()
    raise failed(in_english("The printer refused: %(why)s.", why=reason[:200]))


def _unsigned() -> PrinterRefused:
    return PrinterRefused(
        CommandStatus.NOT_AUTHORIZED,
        N_(
            "The printer takes orders only from its maker's programs: turn on LAN mode and"
            " developer mode in its settings."
        ),
    )


CONNECT_S = 8.0


class BoundedSocket(ssl.SSLSocket):
    """Refuses to wait for a longer message.

    paho-mqtt has no limit of its own; once it knows a message's length it asks for that many bytes.
    """

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        if buflen > MAX_MQTT_MESSAGE_BYTES:
            raise OSError(f"a message of {buflen} bytes was announced")
        return super().recv(buflen, flags)


async def certificate_name(host: str, port: int) -> str | None:
    """Return the common name of the printer's certificate, which is its serial number.

    Raises OSError or TimeoutError when there is no answer.
    """
    async with asyncio.timeout(CONNECT_S):
        _, writer = await asyncio.open_connection(host, port, ssl=unverified_tls())
    try:
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        names = x509.load_der_x509_certificate(shown).subject.get_attributes_for_oid(
            NameOID.COMMON_NAME
        )
    except ValueError:
        return None
    finally:
        writer.close()
    return str(names[0].value) if names else None
