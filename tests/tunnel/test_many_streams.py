"""With any sizes, paces and readers everything arrives complete and nothing is left."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printreach.tunnel.stream import Stream
from printreach.wire.events import StreamOpened
from printreach.wire.frames import CHUNK_BYTES, WINDOW_BYTES
from tests.fakes.hasty_loop import HastyLoop, hasty_loop
from tests.tunnel.ends import OK, Ends, Listener
from tests.tunnel.paced_link import paced_link_pair

PATTERN = bytes(range(251)) * 6000
"""Every body is a prefix of this; 251 divides no size that matters, so a shift would show."""

LONGEST_S = 600.0  # of the clock that jumps

sizes = st.sampled_from([0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, WINDOW_BYTES + 1]) | st.integers(
    0, 3 * WINDOW_BYTES
)
pieces = st.sampled_from([1400, CHUNK_BYTES, WINDOW_BYTES]) | st.integers(500, WINDOW_BYTES)
delays = st.sampled_from([0.0, 0.0, 0.001, 0.1])


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One stream: how much each way, in which pieces, and how slowly it is taken."""

    upload: int
    download: int
    piece: int
    taking_s: float
    starts_s: float


plans = st.builds(
    Plan, upload=sizes, download=sizes, piece=pieces, taking_s=delays, starts_s=delays
)


class Party(Listener):
    """Sends a body piece by piece as it may, and takes what comes after a while."""

    def __init__(self, size: int, plan: Plan) -> None:
        super().__init__(takes=False)
        self._unsent = PATTERN[:size]
        self._plan = plan

    def go_on(self) -> None:
        while True:
            piece, self._unsent = self._unsent[: self._plan.piece], self._unsent[self._plan.piece :]
            if not self.stream.send(piece, fin=not self._unsent) or not self._unsent:
                return

    def on_writable(self) -> None:
        if self._unsent:
            self.go_on()

    def _came(self, data: bytes, fin: bool) -> None:
        super()._came(data, fin)
        hasty_loop().call_later(self._plan.taking_s, self.stream.taken, len(data))


async def carry(plans: list[Plan], bytes_per_s: float, high_water: int) -> None:
    ends = Ends(*paced_link_pair(bytes_per_s=bytes_per_s, high_water=high_water))
    served: list[Party] = []

    def serve(stream: Stream, opened: StreamOpened) -> None:
        plan = plans[int(opened.head.split(b"/")[1].split(b"\r")[0])]
        party = Party(plan.download, plan)
        party.stream = stream
        stream.handler = party
        served.append(party)
        party._came(opened.body, opened.fin)
        stream.respond(OK)
        party.go_on()

    async def ask(number: int) -> Party:
        plan = plans[number]
        await asyncio.sleep(plan.starts_s)
        party = Party(plan.upload, plan)
        party.stream = ends.hub.tunnel.open(party, b"POST /%d\r\n" % number, fin=False)
        party.go_on()
        await party.is_whole.wait()
        return party

    ends.agent.serve = serve
    ends.hub.tunnel.start()
    ends.agent.tunnel.start()
    await asyncio.sleep(0.1)
    asked = await asyncio.gather(*(ask(number) for number in range(len(plans))))
    await asyncio.gather(*(party.is_whole.wait() for party in served))
    await asyncio.sleep(1.0)

    for plan, party in zip(plans, asked, strict=True):
        assert party.body == PATTERN[: plan.download]
    assert sorted(len(party.body) for party in served) == sorted(plan.upload for plan in plans)
    assert all(PATTERN.startswith(party.body) for party in served)
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)
    assert ends.hub.closings == ends.agent.closings == []


@pytest.mark.slow
@settings(max_examples=40)
@given(
    plans=st.lists(plans, min_size=1, max_size=12),
    bytes_per_s=st.sampled_from([1e5, 2.5e6, 1e9]),
    high_water=st.sampled_from([0, 10_000, CHUNK_BYTES, 1 << 30]),
)
def test_every_body_arrives_whole(plans: list[Plan], bytes_per_s: float, high_water: int) -> None:
    with asyncio.Runner(loop_factory=HastyLoop) as runner:
        runner.run(asyncio.wait_for(carry(plans, bytes_per_s, high_water), LONGEST_S))
