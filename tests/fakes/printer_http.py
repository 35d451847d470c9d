"""Printers behind a relay, in memory."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from printreach.contract.codec import encode
from printreach.contract.status import CurrentPrint, JobStatus, State, StatusResult, WebcamList
from printreach.contract.status import ServiceStatus as Service
from printreach.ports.printer_http import NO_QUERY, PrinterAnswer, PrinterRefusal
from printreach.rules.printers import OwnedPrinter

OFFLINE = PrinterRefusal(601, "The printer's agent is not connected to the service.")


def status_of(
    state: State = State.IDLE, file_name: str = "", progress: float = 0.0, features: int = 63
) -> StatusResult:
    """A status with little in it."""
    return StatusResult(
        job_status=JobStatus(
            state=state, current_print=CurrentPrint(file_name=file_name, progress=progress)
        ),
        service_status=Service(),
        platform_version="1.0",
        features=features,
        list_webcams=WebcamList(),
    )


@dataclass(frozen=True, slots=True)
class Ordered:
    """A command that was to be carried out."""

    printer_id: str
    command: str
    query: Mapping[str, str]
    arguments: bytes
    despite_lock: bool = False


@dataclass
class FakePrinterHttp:
    """ports.PrinterHttp.

    statuses: by printer; one that has none is offline. answers: of commands but /status; bytes
    are the whole envelope. effects: the status from which a printer goes on after a command that it
    carried out. raw: what may be read as it comes; where it is endless, more is promised and never
    comes. opened: which of it was asked for. uploads: files that came whole; begun: what has come
    of each. asks: how often each printer was asked for its status. questions: other commands that
    were asked.
    """

    statuses: dict[str, StatusResult | PrinterRefusal | bytes] = field(default_factory=dict)
    answers: dict[str, object] = field(default_factory=dict)
    effects: dict[str, StatusResult] = field(default_factory=dict)
    raw: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    is_endless: bool = False
    questions: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    orders: list[Ordered] = field(default_factory=list)
    uploads: dict[str, bytes] = field(default_factory=dict)
    begun: dict[str, bytes] = field(default_factory=dict)
    asks: Counter[str] = field(default_factory=Counter)
    before_answer: Callable[[], None] = lambda: None

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        if command != "/status":
            self.questions.append(command)
            return self._answer(printer, command)
        self.asks[printer.printer_id] += 1
        self.before_answer()
        status = self.statuses.get(printer.printer_id, OFFLINE)
        if isinstance(status, StatusResult):
            return encode({"Status": 200, "Result": status})
        return status

    async def order(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        arguments: bytes = b"",
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        ordered = Ordered(printer.printer_id, command, query, arguments, despite_lock)
        self.orders.append(ordered)
        answer = self._answer(printer, command)
        if command in self.effects and not isinstance(answer, PrinterRefusal):
            self.statuses[printer.printer_id] = self.effects[command]
        return answer

    @asynccontextmanager
    async def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AsyncIterator[PrinterAnswer | PrinterRefusal]:
        self.opened.append(command)
        if command not in self.raw:
            said = self.answers.get(command)
            yield said if isinstance(said, PrinterRefusal) else OFFLINE
            return
        content_type, body = self.raw[command]
        length = None if self.is_endless else len(body)
        yield PrinterAnswer(content_type, length, _pieces(body, is_endless=self.is_endless))

    async def send(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str],
        chunks: AsyncIterable[bytes],
        length: int | None,
    ) -> bytes | PrinterRefusal:
        path = query["path"]
        self.begun[path] = b""
        async for chunk in chunks:
            self.begun[path] += chunk
        self.uploads[path] = self.begun[path]
        return self._answer(printer, command)

    def _answer(self, printer: OwnedPrinter, command: str) -> bytes | PrinterRefusal:
        if printer.printer_id not in self.statuses:
            return OFFLINE
        answer = self.answers.get(command, {})
        if isinstance(answer, PrinterRefusal | bytes):
            return answer
        return encode({"Status": 200, "Result": answer})


async def _pieces(body: bytes, *, is_endless: bool) -> AsyncIterator[bytes]:
    for at in range(0, len(body), 1000):
        yield body[at : at + 1000]
    if is_endless:
        await asyncio.Event().wait()
