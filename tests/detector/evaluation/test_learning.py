"""Cameras learn from the prints of a folder as they do on a service."""

from printreach.detector.evaluation.learning import watched_by_what_was_learnt
from printreach.detector.evaluation.prints import ScoredPicture, ScoredPrint, outcomes, watched
from printreach.rules.detection import ImageAssessment
from printreach.rules.detection.scene import SIDE, Scene
from printreach.rules.watch.background import FEWEST_PRINTS

GOOD, ODD, SEEN = 0.02, 0.08, 0.97
LENGTH = 20
BED = tuple(60 + 6 * (place % SIDE) for place in range(SIDE * SIDE))


def a_print(camera: str, later: float, name: str = "print", onset: int = LENGTH) -> ScoredPrint:
    """A print that looks good at its start, and later like this in one of its corners."""
    pictures = (
        ScoredPicture(
            ImageAssessment(
                probability=each,
                scene=Scene(grey=BED, digest=number),
                evidence=((each, each, GOOD), (each, each, GOOD), (GOOD, GOOD, GOOD)),
            ),
            20.0 * number,
            number >= onset,
        )
        for number, each in enumerate([GOOD] * 8 + [later] * (LENGTH - 8))
    )
    return ScoredPrint(name, tuple(pictures), camera)


def test_only_prints_of_a_camera_that_has_learnt_enough_are_judged() -> None:
    prints = [a_print("desk", GOOD, str(number)) for number in range(FEWEST_PRINTS + 2)]

    judged = [one.seen.name for one in watched_by_what_was_learnt(prints)]

    assert judged == [str(FEWEST_PRINTS), str(FEWEST_PRINTS + 1)]


def test_cameras_learn_by_themselves_and_those_without_a_name_do_not() -> None:
    prints = [a_print(camera, GOOD) for camera in ("", "desk", "shelf") * FEWEST_PRINTS]

    assert not list(watched_by_what_was_learnt([*prints, a_print("", GOOD)]))
    assert len(list(watched_by_what_was_learnt([*prints, a_print("desk", GOOD)]))) == 1


def test_what_good_prints_show_later_makes_the_next_ones_look_better() -> None:
    *_, last = prints = [a_print("desk", ODD) for _ in range(FEWEST_PRINTS + 1)]

    (learnt,) = watched_by_what_was_learnt(prints)

    worst, worst_alone = (
        max(verdict.score for verdict in each.verdicts) for each in (learnt, watched(last))
    )
    assert worst < worst_alone


def test_prints_that_were_warned_of_teach_nothing() -> None:
    warned_of = [a_print("desk", SEEN) for _ in range(FEWEST_PRINTS)]

    assert not list(watched_by_what_was_learnt([*warned_of, a_print("desk", GOOD)]))


def test_a_failure_that_is_seen_is_paused_on_a_camera_that_has_learnt() -> None:
    good = [a_print("desk", ODD) for _ in range(FEWEST_PRINTS)]

    judged = list(watched_by_what_was_learnt([*good, a_print("desk", SEEN, onset=8)]))

    assert outcomes(judged)["print"].paused == 1
