"""The contract of every scorer, local or remote."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import pytest
from PIL import Image

from printreach.detector.batch_scorer import BatchScorer
from printreach.detector.engine import ModelUnavailable, ScoreBatch
from printreach.detector.image_queue import MAX_QUEUED
from printreach.detector.model import load_model
from printreach.detector.preprocess import prepare
from printreach.ports.scoring import (
    ImageScore,
    PictureTooLarge,
    PictureUnreadable,
    ScorerBusy,
    ScorerUnavailable,
    ScoringFailed,
)
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.watch.choices import MAX_REGIONS, Region
from tests.detector.images import scene, written
from tests.detector.scorers import Rig, Way, at_a_node, in_threads, until
from tests.detector.stand_in import StandIn, seen

LEFT = Region(0.0, 0.0, 0.5, 1.0)
ODD = Region(0.1, 1 / 3, 0.30000000000000004, 0.9999999999999999)
SCORE_TIMEOUT_S = 60


@pytest.fixture(params=[in_threads, at_a_node], ids=["threads", "node"])
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = request.param
    return chosen


def run(way: Way, load: Callable[[], ScoreBatch], use: Callable[[Rig], Awaitable[None]]) -> None:
    """Use a scorer that stands before this look."""

    async def through() -> None:
        async with asyncio.timeout(SCORE_TIMEOUT_S), way(load) as rig:
            await use(rig)

    asyncio.run(through())


def ask(rig: Rig, pictures: Iterable[bytes]) -> list[asyncio.Task[ImageScore]]:
    """Ask about all of them at once."""
    return [asyncio.ensure_future(rig.scorer.score(picture)) for picture in pictures]


@pytest.mark.slow
def test_a_picture_has_the_score_that_the_model_gives_it(way: Way) -> None:
    model, picture = load_model(), written(scene())
    prepared = prepare(picture)
    (output,) = model.score([prepared])

    async def use(rig: Rig) -> None:
        scored = await rig.scorer.score(picture)

        assert scored.assessment == output.assessment(prepared)
        assert scored.assessment.evidence == output.evidence

    run(way, lambda: BatchScorer(model).score, use)


@pytest.mark.slow
def test_what_is_masked_is_no_evidence(way: Way) -> None:
    model, picture = load_model(), written(scene())

    async def use(rig: Rig) -> None:
        evidence = (await rig.scorer.score(picture, [LEFT])).assessment.evidence

        half = len(evidence) // 2
        assert all(row[:half] == (0.0,) * half and all(row[half:]) for row in evidence)

    run(way, lambda: BatchScorer(model).score, use)


@pytest.mark.slow
def test_what_is_masked_is_not_shown_to_the_model(way: Way) -> None:
    model = load_model()
    shown = scene()
    hidden = shown.copy()
    hidden.paste(Image.effect_noise((320, 480), 90).convert("RGB"), (0, 0))
    (output,) = model.score([prepare(written(shown, "PNG"), [LEFT])])

    async def use(rig: Rig) -> None:
        one, other = [
            await rig.scorer.score(written(image, "PNG"), [LEFT]) for image in (shown, hidden)
        ]

        assert one.assessment == other.assessment
        assert one.assessment.probability == output.probability
        assert (await rig.scorer.score(written(hidden, "PNG"))).assessment != one.assessment

    run(way, lambda: BatchScorer(model).score, use)


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"", b"GIF89a", written(scene())[:500]])
def test_what_is_no_whole_picture_is_unreadable(way: Way, data: bytes) -> None:
    model = load_model()

    async def use(rig: Rig) -> None:
        with pytest.raises(PictureUnreadable, match=r"truncated|no JPEG|empty"):
            await rig.scorer.score(data)

    run(way, lambda: BatchScorer(model).score, use)


def test_a_picture_may_be_so_large_and_not_a_byte_larger(way: Way) -> None:
    largest = bytes(MAX_IMAGE_BYTES)

    async def use(rig: Rig) -> None:
        assert (await rig.scorer.score(largest)).assessment == seen(largest)
        with pytest.raises(PictureTooLarge):
            await rig.scorer.score(largest + b"\0")

    run(way, StandIn().load, use)


def test_masks_arrive_to_the_last_bit(way: Way) -> None:
    score, masked = StandIn(), (ODD,) * MAX_REGIONS

    async def use(rig: Rig) -> None:
        await rig.scorer.score(b"picture", masked)

        assert score.batches[0][0].masked == masked

    run(way, score.load, use)


def test_pictures_that_come_at_once_each_get_their_own_answer(way: Way) -> None:
    pictures = [b"picture %d" % number for number in range(20)]

    async def use(rig: Rig) -> None:
        reported = await asyncio.gather(*ask(rig, pictures))

        assert [one.assessment for one in reported] == [seen(picture) for picture in pictures]

    run(way, StandIn().load, use)


def test_a_bad_picture_among_good_ones_is_refused_alone(way: Way) -> None:
    score = StandIn(is_open=False)

    async def use(rig: Rig) -> None:
        first = ask(rig, [b"first"])
        await until(score.begun.is_set)
        asked = ask(rig, [b"good", b"bad"])
        await until(lambda: rig.engine.load == 2 / MAX_QUEUED)
        score.open.set()
        reported = await asyncio.gather(*first, *asked, return_exceptions=True)

        assert [type(one) for one in reported] == [ImageScore, ImageScore, PictureUnreadable]
        assert [len(batch) for batch in score.batches] == [1, 2]

    run(way, score.load, use)


def test_what_finds_the_queue_full_is_refused_at_once_and_the_others_are_answered(
    way: Way,
) -> None:
    score = StandIn(is_open=False)

    async def use(rig: Rig) -> None:
        first = ask(rig, [b"first"])
        await until(score.begun.is_set)
        asked = ask(rig, [b"%d" % number for number in range(MAX_QUEUED + 20)])
        # Nothing is looked at meanwhile: who is answered by now has been refused.
        await until(lambda: sum(one.done() for one in asked) == 20)
        score.open.set()
        reported = await asyncio.gather(*first, *asked, return_exceptions=True)

        assert sum(isinstance(one, ScorerBusy) for one in reported) == 20
        assert len(score.pictures) == 1 + MAX_QUEUED

    run(way, score.load, use)


def test_the_load_tells_how_full_the_queue_is(way: Way) -> None:
    score = StandIn(is_open=False)

    async def use(rig: Rig) -> None:
        asked = ask(rig, [b"%d" % number for number in range(MAX_QUEUED)])
        await until(lambda: rig.engine.load > 0.8)
        score.open.set()
        loads = [one.load for one in await asyncio.gather(*asked)]

        assert 0.5 < max(loads) <= 1
        assert (await rig.scorer.score(b"alone")).load == 0

    run(way, score.load, use)


def test_a_caller_that_gives_up_makes_room_and_is_not_scored(way: Way) -> None:
    score = StandIn(is_open=False)

    async def use(rig: Rig) -> None:
        first = ask(rig, [b"first"])
        await until(score.begun.is_set)
        gone = ask(rig, [b"gone"] * MAX_QUEUED)
        await until(lambda: rig.engine.load == 1)
        for one in gone:
            one.cancel()
        await until(lambda: rig.engine.load == 0)
        stays = ask(rig, [b"stays"])
        score.open.set()
        await asyncio.gather(*first, *stays)

        assert score.pictures == [b"first", b"stays"]

    run(way, score.load, use)


def test_a_picture_that_breaks_the_model_is_refused_alone(way: Way) -> None:
    score = StandIn(is_open=False)
    score.fails_on = b"poison"

    async def use(rig: Rig) -> None:
        first = ask(rig, [b"first"])
        await until(score.begun.is_set)
        asked = ask(rig, [b"before", b"poison", b"behind"])
        await until(lambda: rig.engine.load == 3 / MAX_QUEUED)
        score.open.set()
        reported = await asyncio.gather(*first, *asked, return_exceptions=True)

        assert [isinstance(one, ScoringFailed) for one in reported] == [False, False, True, False]
        assert (await rig.scorer.score(b"next")).assessment == seen(b"next")

    run(way, score.load, use)


def test_without_a_model_every_picture_is_refused(way: Way) -> None:
    def load() -> ScoreBatch:
        raise ModelUnavailable("the detector's weights are not installed")

    async def use(rig: Rig) -> None:
        reported = await asyncio.gather(*ask(rig, [b"picture"] * 3), return_exceptions=True)

        assert [type(one) for one in reported] == [ScorerUnavailable] * 3
        with pytest.raises(ScorerUnavailable):
            await rig.scorer.score(b"picture")

    run(way, load, use)
