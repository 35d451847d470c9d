"""Scoring in threads of this process: what is loaded when, what waits, and who is refused."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable

import pytest

from printreach.detector.engine import MAX_BATCH, Engine, ModelUnavailable, ScoreBatch
from printreach.detector.image_queue import MAX_QUEUED, MAX_QUEUED_BYTES
from printreach.ports.scoring import ImageScore, ScorerBusy, ScorerUnavailable
from printreach.rules.detection import MAX_IMAGE_BYTES
from tests.detector.scorers import until
from tests.detector.stand_in import StandIn

DEADLINE_S = 60


def run(
    load: Callable[[], ScoreBatch],
    use: Callable[[Engine], Awaitable[None]],
    *,
    threads: int = 1,
    timeout_s: float = DEADLINE_S,
) -> None:
    async def through() -> None:
        async with asyncio.timeout(DEADLINE_S):
            engine = Engine(load, threads=threads, timeout_s=timeout_s)
            try:
                await use(engine)
            finally:
                await engine.close()

    asyncio.run(through())


def ask(engine: Engine, pictures: Iterable[bytes]) -> list[asyncio.Task[ImageScore]]:
    return [asyncio.ensure_future(engine.score(picture)) for picture in pictures]


def test_a_picture_that_comes_alone_waits_for_no_other() -> None:
    look = StandIn()

    async def use(engine: Engine) -> None:
        for number in range(3):
            await engine.score(b"%d" % number)

        assert [len(batch) for batch in look.batches] == [1, 1, 1]

    run(look.load, use)


def test_what_has_gathered_is_looked_at_together_up_to_a_small_batch() -> None:
    look = StandIn(is_open=False)

    async def use(engine: Engine) -> None:
        first = ask(engine, [b"first"])
        await until(look.begun.is_set)
        rest = ask(engine, [b"%d" % number for number in range(MAX_BATCH + 1)])
        await until(lambda: engine.load == (MAX_BATCH + 1) / MAX_QUEUED)
        look.open.set()
        await asyncio.gather(*first, *rest)

        assert [len(batch) for batch in look.batches] == [1, MAX_BATCH, 1]

    run(look.load, use)


def test_images_are_scored_in_the_order_of_arrival() -> None:
    look, pictures = StandIn(is_open=False), [b"%d" % number for number in range(MAX_QUEUED)]

    async def use(engine: Engine) -> None:
        asked = ask(engine, pictures)
        await until(look.begun.is_set)
        look.open.set()
        await asyncio.gather(*asked)

        assert look.pictures == pictures

    run(look.load, use)


def test_each_thread_looks_at_its_own_pictures() -> None:
    look = StandIn(is_open=False)

    async def use(engine: Engine) -> None:
        await engine.ready()
        asked = ask(engine, [b"one", b"other"])
        await until(lambda: len(look.batches) == 2)
        look.open.set()
        await asyncio.gather(*asked)

    run(look.load, use, threads=2)


def test_large_pictures_fill_the_queue_by_their_bytes() -> None:
    look, room = StandIn(is_open=False), MAX_QUEUED_BYTES // MAX_IMAGE_BYTES

    async def use(engine: Engine) -> None:
        first = ask(engine, [b"first"])
        await until(look.begun.is_set)
        large = ask(engine, [bytes(MAX_IMAGE_BYTES)] * room)
        await until(lambda: engine.load > 0.9)
        with pytest.raises(ScorerBusy):
            await engine.score(bytes(MAX_IMAGE_BYTES))
        small = ask(engine, [b"small"])
        look.open.set()
        await asyncio.gather(*first, *large, *small)

        assert engine.load == 0

    run(look.load, use)


@pytest.mark.slow
def test_a_picture_that_waits_too_long_is_refused_and_never_looked_at() -> None:
    look = StandIn(is_open=False)

    async def use(engine: Engine) -> None:
        await engine.ready()
        first = ask(engine, [b"first"])
        await until(look.begun.is_set)
        with pytest.raises(ScorerBusy, match="no score within"):
            await engine.score(b"late")
        look.open.set()
        await asyncio.gather(*first, return_exceptions=True)

    run(look.load, use, timeout_s=2.0)  # the first must not have to wait so long

    assert look.pictures == [b"first"]


def test_one_that_gives_up_in_a_batch_is_dropped_before_it_is_looked_at() -> None:
    look = StandIn(is_open=False)

    async def use(engine: Engine) -> None:
        first = ask(engine, [b"first"])
        await until(look.begun.is_set)
        goes, stays = ask(engine, [b"goes", b"stays"])
        await until(lambda: engine.load == 2 / MAX_QUEUED)
        goes.cancel()
        look.open.set()
        await asyncio.gather(*first, stays)

        assert look.pictures == [b"first", b"stays"]

    run(look.load, use)


def test_the_model_is_loaded_once_when_the_first_picture_comes() -> None:
    loaded: list[StandIn] = []

    def load() -> StandIn:
        loaded.append(StandIn())
        return loaded[-1]

    async def use(engine: Engine) -> None:
        assert loaded == []
        await asyncio.gather(*ask(engine, [b"%d" % number for number in range(10)]))
        await engine.ready()

        assert len(loaded) == 1

    run(load, use, threads=3)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (ModelUnavailable("the detector's weights are not installed"), "weights are not installed"),
        (RuntimeError("no such operator"), "model can't be loaded"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_said_once_and_every_picture_is_refused(
    problem: Exception, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    def load() -> ScoreBatch:
        raise problem

    async def use(engine: Engine) -> None:
        for _ in range(3):
            with pytest.raises(ScorerUnavailable, match=said):
                await engine.score(b"picture")

    with caplog.at_level(logging.ERROR):
        run(load, use)

    (record,) = caplog.records
    assert "Failure detection is off until the next start" in record.getMessage()
    assert said in record.getMessage()


def test_closing_refuses_what_waits_and_lets_end_what_is_looked_at() -> None:
    look = StandIn(is_open=False)

    async def use(engine: Engine) -> None:
        first = ask(engine, [b"first"])
        await until(look.begun.is_set)
        waits = ask(engine, [b"waits"])
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(engine.close())
        await asyncio.wait(waits)
        look.open.set()
        await closing

        assert (await first[0]).load == 0
        with pytest.raises(ScorerUnavailable):
            await waits[0]
        with pytest.raises(ScorerUnavailable):
            await engine.score(b"after")

    run(look.load, use)


@pytest.mark.slow
def test_a_service_that_nobody_asks_loads_no_library_of_the_detector() -> None:
    program = (
        "import asyncio, sys\n"
        "from printreach.run import embedded, serve\n"
        "from printreach.run.scoring import scoring_of\n"
        "from printreach.run.settings import settings_from\n"
        "async def main():\n"
        "    async with scoring_of(settings_from({}), frozenset({'web'})):\n"
        "        print(sorted({'onnxruntime', 'numpy', 'PIL'} & set(sys.modules)))\n"
        "asyncio.run(main())\n"
    )

    reported = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=100, check=False
    )

    assert reported.stdout == b"[]\n", reported.stderr
