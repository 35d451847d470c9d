"""The agents of the walk: each answers for its printer, and every answer says whose it is now.

A tenure is the time for which one account has one printer, and has a number. Whatever a printer
says carries the number of its tenure: a word of one tenure has no business with another account.
"""

import asyncio
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from PIL import Image

from printreach.contract import signin
from printreach.contract.codec import encode
from printreach.contract.commands import COMMAND_PREFIX
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import (
    CurrentPrint,
    JobStatus,
    ServiceStatus,
    State,
    StatusResult,
    WebcamEntry,
    WebcamList,
)
from printreach.wire.heads import get
from tests.fakes.memory_link import MemoryLink, memory_link_pair
from tests.relay.scripted_agent import Asked, ScriptedAgent

WORD: Final = re.compile(rb"tenure-(\d{6})")
MULTIPART: Final = (b"Content-Type", b"multipart/x-mixed-replace; boundary=frame")


def word_of(tenure: int) -> str:
    """What everything of that tenure has in it."""
    return f"tenure-{tenure:06}"


class AgentLink(MemoryLink):
    """The service's end of an agent's connection."""

    def trust(self) -> None:
        """A link in memory takes any message."""


def agent_links() -> tuple[MemoryLink, AgentLink]:
    """The agent's end, and the service's."""
    agent_end, made = memory_link_pair()
    service_end = AgentLink(made._loop)
    agent_end.join(service_end)
    service_end.join(agent_end)
    return agent_end, service_end


@lru_cache(maxsize=64)
def picture_of(tenure: int) -> bytes:
    """A JPEG picture with the word in a comment, which is a part of the picture."""
    comment = word_of(tenure).encode()
    whole = _plain_picture()
    return whole[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + whole[2:]


@lru_cache(maxsize=1)
def _plain_picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "JPEG")
    return out.getvalue()


@dataclass
class PrinterAgent(ScriptedAgent):
    """tenure_of: the number of the printer's tenure now, by the agent's name; None for nobody's.

    arrived: requests that nobody has looked at yet, each behind the tenure in which it came, and
    before the time of the loop's clock.
    """

    tenure_of: Callable[[str], int | None] = lambda _name: None
    events_said: int = 0
    long_answers: list[Asked] = field(default_factory=list)
    arrived: list[tuple[int | None, Asked, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.script = self._answer

    def carry_on(self, end: MemoryLink) -> None:
        """This end of the link is its own, to leave by."""
        self._end = end

    def leave(self) -> None:
        self._end.abort()

    @property
    def word(self) -> str:
        """Of the tenure of now."""
        return word_of(self.tenure_of(self.name) or 0)

    def tell_of_print(self, event_type: EventType, at: int) -> None:
        """Say that something happened to the print of now."""
        self.events_said += 1
        event = PrintEvent(
            event_id=f"{self.name}-{self.word}-{self.events_said:06}",
            event_type=event_type,
            event_time_sec=at,
            print_id=f"print-{self.word}",
            file_name=f"{self.word}.gcode",
            progress=50,
        )
        self.say(signin.Events(events=[event]))

    def _answer(self, asked: Asked) -> None:
        at = asyncio.get_running_loop().time()
        self.arrived.append((self.tenure_of(self.name), asked, at))
        path = asked.target.partition(b"?")[0]
        tenure = self.tenure_of(self.name) or 0
        if get(asked.head.headers, b"upgrade") is not None:
            asked.answer(
                101,
                [(b"Upgrade", b"websocket"), (b"Connection", b"Upgrade")],
                self.word.encode(),
                reason=b"Switching Protocols",
                fin=False,
            )
            self.long_answers.append(asked)
        elif path.endswith((b"/webcam/stream", b"/endless")):
            asked.answer(headers=[MULTIPART], body=self.word.encode(), fin=False)
            self.long_answers.append(asked)
        elif path.endswith(b"/webcam/snapshot"):
            picture = picture_of(tenure)
            length = (b"Content-Length", b"%d" % len(picture))
            asked.answer(headers=[(b"Content-Type", b"image/jpeg"), length], body=picture)
        elif path == COMMAND_PREFIX + b"/status":
            asked.answer_with_length(_status(self.word))
        elif path.startswith(COMMAND_PREFIX):
            asked.answer_with_length(encode({"Status": 200, "Result": {"Said": self.word}}))
        else:
            asked.answer_with_length(self.word.encode())


@lru_cache(maxsize=64)
def _status(word: str) -> bytes:
    status = StatusResult(
        job_status=JobStatus(
            state=State.PRINTING,
            sub_state=word,
            current_print=CurrentPrint(file_name=f"{word}.gcode", progress=50.0),
        ),
        service_status=ServiceStatus(most_recent_print_id_str=f"print-{word}"),
        platform_version=word,
        features=63,
        list_webcams=WebcamList(webcams=[WebcamEntry(name=word)]),
    )
    return encode({"Status": 200, "Result": status})
