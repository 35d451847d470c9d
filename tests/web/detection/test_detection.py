"""The failure-detection API as programs call it."""

from datetime import timedelta

import pytest

from printreach.contract.detection_api import DetectionError
from printreach.ports.scoring import (
    ImageScore,
    PictureTooLarge,
    PictureUnreadable,
    ScorerBusy,
    ScorerUnavailable,
    ScoringFailed,
    ScoringRefused,
)
from printreach.rules.detection.usage import Calls
from tests.web.conftest import MakeWorld
from tests.web.detection.detecting import (
    CREATE,
    IMAGE,
    MINIMUM,
    DetectionClient,
    detecting,
    error_of,
    told,
)
from tests.web.world import BASE_URL, Browser, WebWorld, run

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)


@pytest.fixture
def caller(world: WebWorld, program: Browser) -> DetectionClient:
    return detecting(world, program)


# --- what works -----------------------------------------------------------------------------------


def test_a_context_is_made_with_the_urls_that_take_its_images(caller: DetectionClient) -> None:
    answer = caller.create()
    made = answer.json()

    assert answer.status_code == 200
    assert list(made) == ["ContextId", "ProcessRequestUrl", "FallbackProcessRequestUrl"]
    assert made["ProcessRequestUrl"] == f"{BASE_URL}/api/detector/v1/process/{made['ContextId']}"
    assert made["FallbackProcessRequestUrl"] == made["ProcessRequestUrl"]


def test_two_contexts_have_ids_that_nobody_guesses(caller: DetectionClient) -> None:
    one, other = (caller.create().json()["ContextId"] for _ in range(2))

    assert one != other
    assert len(one) >= 32


def test_an_image_is_answered_with_what_is_to_be_made_of_the_print(caller: DetectionClient) -> None:
    answer = caller.process(caller.context())

    assert answer.status_code == 200
    assert answer.json() == {
        "NextProcessIntervalSec": {"Minimum": 5, "Recommended": 20},
        "FasterInspectionSuggested": False,
        "PrintQuality": 10,
        "WarningSuggested": False,
        "PauseSuggested": False,
        "Score": 5,
    }
    assert [shown for shown, _ in caller.world.scorer.shown] == [IMAGE]


def test_a_print_that_goes_wrong_is_warned_of_and_then_to_be_paused(
    caller: DetectionClient,
) -> None:
    path = caller.context()
    for _ in range(4):
        assert not caller.process(path).json()["WarningSuggested"]
        caller.world.clock.advance(20 * SECOND)
    caller.world.scorer.probability = 0.99
    results = []
    for _ in range(9):
        results.append(caller.process(path).json())
        caller.world.clock.advance(20 * SECOND)
    flags = [(one["WarningSuggested"], one["PauseSuggested"]) for one in results]

    assert flags[0] == (False, False)
    assert flags[-1] == (True, True)
    assert flags.index((True, False)) < flags.index((True, True))
    assert results[-1]["FasterInspectionSuggested"]
    assert results[-1]["PrintQuality"] <= 3
    assert results[-1]["NextProcessIntervalSec"] == {"Minimum": 5, "Recommended": 5}


def test_a_busy_detector_is_asked_less_often(caller: DetectionClient) -> None:
    caller.world.scorer.load = 1.0

    answer = caller.process(caller.context()).json()

    assert answer["NextProcessIntervalSec"] == {"Minimum": 5, "Recommended": 60}


def test_only_images_are_counted(caller: DetectionClient) -> None:
    path = caller.context()
    caller.process(path)

    assert caller.counted() == Calls(all=1)


# --- levels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [1, 5])
def test_a_context_takes_levels_from_1_to_5(caller: DetectionClient, level: int) -> None:
    wish = {"WarningConfidenceLevel": level, "PauseConfidenceLevel": level, "Else": "ignored"}

    assert caller.create(wish).status_code == 200


@pytest.mark.parametrize(
    ("body", "levels"),
    [
        (b"", (3, 3)),
        (b"{}", (3, 3)),
        (b'{"PauseConfidenceLevel":null}', (3, 3)),
        (b'{"WarningConfidenceLevel":1}', (1, 3)),
        (b'{"PauseConfidenceLevel":5}', (3, 5)),
        (b'{"WarningConfidenceLevel":4,"PauseConfidenceLevel":2}', (4, 2)),
    ],
)
def test_what_is_left_out_of_a_context_is_three(
    caller: DetectionClient, body: bytes, levels: tuple[int, int]
) -> None:
    context_id = caller.send(CREATE, body, "application/json").json()["ContextId"]
    store = caller.world.store
    kept = run(
        caller.program,
        lambda: store.read(lambda records: records.detection_contexts.get(context_id)),
    )

    assert kept is not None
    assert (kept.remembered.warning_level, kept.remembered.pause_level) == levels


def test_the_levels_of_a_context_are_those_that_were_asked_for(caller: DetectionClient) -> None:
    soonest, latest = (
        caller.context({"WarningConfidenceLevel": level, "PauseConfidenceLevel": level})
        for level in (1, 5)
    )
    caller.world.scorer.probability = 0.99
    warned_after: dict[str, int] = {}
    for step in range(8):
        for path in (soonest, latest):
            if caller.process(path).json()["WarningSuggested"]:
                warned_after.setdefault(path, step)
        caller.world.clock.advance(10 * SECOND)

    assert warned_after[soonest] < warned_after[latest]


@pytest.mark.provokes("OE_BAD_ARGS")
@pytest.mark.parametrize("name", ["WarningConfidenceLevel", "PauseConfidenceLevel"])
def test_what_is_no_level_is_refused(caller: DetectionClient, name: str) -> None:
    wrong: list[object] = [0, 6, -1, True, 3.5, "3", [3], {}, 10**30]
    for level in wrong:
        answer = caller.create({name: level})

        assert error_of(answer) == told(DetectionError.BAD_ARGS)
        assert answer.json()["ErrorDetails"] == f"{name} has to be a whole number, 1 to 5."


def test_what_is_json_but_no_object_is_refused(caller: DetectionClient) -> None:
    for body in (b"[]", b"null", b"3", b'"{}"'):
        answer = caller.send(CREATE, body, "application/json")

        assert error_of(answer) == told(DetectionError.BAD_ARGS), body


@pytest.mark.provokes("OE_ARGS_PARSE_FAILED")
def test_what_is_no_json_is_refused(caller: DetectionClient) -> None:
    for body in (
        b"{",
        b"WarningConfidenceLevel=3",
        b'{"WarningConfidenceLevel":true',
        b"\xff\xfe",
        b'{"A":"\xff"}',
        b"[" * 50_000,
        b'{"A":"' + b"a" * 70_000 + b'"}',
    ):
        answer = caller.send(CREATE, body, "application/json")

        assert error_of(answer) == told(DetectionError.ARGS_PARSE_FAILED), body[:40]


# --- contexts -------------------------------------------------------------------------------------


@pytest.mark.provokes("OE_CONTEXT_NOT_FOUND")
def test_an_unknown_context_is_not_found(caller: DetectionClient) -> None:
    for context_id in ("a" * 32, "A", "..%2f", "%00", "%F0%9F%92%A5"):
        answer = caller.process(f"/api/detector/v1/process/{context_id}")

        assert error_of(answer) == told(DetectionError.CONTEXT_NOT_FOUND), context_id


def test_a_context_belongs_to_the_key_that_made_it(caller: DetectionClient) -> None:
    path = caller.context()
    bob = detecting(caller.world, caller.program, "bob@example.org")

    for key in (bob.key, caller.another_key()):
        answer = caller.process(path, key=key)
        assert error_of(answer) == told(DetectionError.CONTEXT_NOT_FOUND)
    assert caller.process(path).status_code == 200


def test_a_context_lasts_fourteen_days(caller: DetectionClient) -> None:
    path = caller.context()
    caller.world.clock.advance(14 * DAY - SECOND)
    assert caller.process(path).status_code == 200
    caller.world.clock.advance(SECOND)

    assert error_of(caller.process(path)) == told(DetectionError.CONTEXT_NOT_FOUND)


@pytest.mark.provokes("OE_CONTEXT_RATE_LIMITED")
def test_an_image_that_comes_too_early_is_refused_and_never_looked_at(
    caller: DetectionClient,
) -> None:
    path = caller.context()
    caller.process(path)
    caller.world.clock.advance(MINIMUM - timedelta(seconds=1.5))
    answer = caller.process(path)

    assert error_of(answer) == told(DetectionError.CONTEXT_RATE_LIMITED)
    assert answer.headers["retry-after"] == "2"
    assert len(caller.world.scorer.shown) == 1
    assert caller.counted() == Calls(all=1)
    caller.world.clock.advance(timedelta(seconds=1.5))
    assert caller.process(path).status_code == 200


def test_an_image_that_was_refused_delays_no_other(caller: DetectionClient) -> None:
    path = caller.context()
    assert caller.send(path, b"", "text/plain").status_code == 400

    assert caller.process(path).status_code == 200


def test_a_clock_that_is_put_right_locks_no_context_out(caller: DetectionClient) -> None:
    path = caller.context()
    caller.world.clock.advance(2 * DAY)
    caller.process(path)
    caller.world.clock.advance(-2 * DAY)

    assert caller.process(path).status_code == 200
    assert error_of(caller.process(path)) == told(DetectionError.CONTEXT_RATE_LIMITED)


@pytest.mark.parametrize("path", ["process", "process/"])
def test_an_address_that_lacks_its_context_names_none(caller: DetectionClient, path: str) -> None:
    answer = caller.process(f"/api/detector/v1/{path}")

    assert error_of(answer) == told(DetectionError.CONTEXT_NOT_FOUND)


@pytest.mark.parametrize("accept", ["*/*", "text/html"])
def test_a_call_that_there_is_not_is_refused_as_the_others_are(
    caller: DetectionClient, accept: str
) -> None:
    headers = caller.headers() | {"accept": accept}
    for path in (CREATE, caller.context()):
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            answer = caller.program.request(method, path, headers=headers)

            assert error_of(answer) == (405, DetectionError.BAD_ARGS)
            assert "POST" in answer.headers["allow"]
    for path in ("", "score", "process/a/b"):
        answer = caller.program.post(f"/api/detector/v1/{path}", headers=headers)

        assert error_of(answer) == (404, DetectionError.BAD_ARGS), path


# --- what else may go wrong -----------------------------------------------------------------------


@pytest.mark.provokes("OE_IMAGE_DECODE_FAILED", "OE_BACKEND_THROTTLED", "OE_INTERNAL_ERROR")
@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (PictureUnreadable("it is no JPEG"), DetectionError.IMAGE_DECODE_FAILED),
        (PictureTooLarge("it is too large"), DetectionError.IMAGE_TOO_LARGE),
        (ScorerBusy("too many wait"), DetectionError.BACKEND_THROTTLED),
        (ScoringFailed("a secret"), DetectionError.INTERNAL_ERROR),
        (ScorerUnavailable("a secret"), DetectionError.INTERNAL_ERROR),
        (ScoringRefused("a secret"), DetectionError.INTERNAL_ERROR),
    ],
)
def test_an_image_without_a_score_is_not_counted_and_delays_nothing(
    caller: DetectionClient, refusal: ScoringRefused, error: DetectionError
) -> None:
    path = caller.context()
    caller.world.scorer.refusal = refusal
    answer = caller.process(path)
    caller.world.scorer.refusal = None

    assert error_of(answer) == told(error)
    assert ("retry-after" in answer.headers) is (error is DetectionError.BACKEND_THROTTLED)
    assert "secret" not in answer.text
    assert caller.counted() == Calls()
    assert caller.process(path).status_code == 200


def test_what_breaks_inside_stays_inside(
    caller: DetectionClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = caller.context()

    async def break_down(picture: bytes, masked: object = ()) -> ImageScore:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(caller.world.scorer, "score", break_down)
    answer = caller.process(path, b"a private picture")

    assert error_of(answer) == told(DetectionError.INTERNAL_ERROR)
    assert "secret" not in answer.text
    assert "a private picture" not in caplog.text


def test_an_image_is_neither_stored_nor_logged(
    caller: DetectionClient, caplog: pytest.LogCaptureFixture
) -> None:
    private = b"a private picture"
    caller.process(caller.context(), private)
    caller.counted()

    assert private.decode() not in caplog.text
    folder = caller.world.settings.data_dir
    assert not any(private in file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("more", [{}, {"origin": "https://app.example"}])
def test_a_cookie_is_neither_needed_nor_looked_at(
    caller: DetectionClient, more: dict[str, str]
) -> None:
    with_cookie = {"cookie": "printreach_session=x"} | more

    answer = caller.program.post(CREATE, headers=caller.headers() | with_cookie)
    assert answer.status_code == 200
    answer = caller.program.post(CREATE, headers=with_cookie)
    assert error_of(answer) == told(DetectionError.INVALID_API_KEY)


def test_images_may_have_a_host_of_their_own(world_with: MakeWorld) -> None:
    with world_with(DETECTOR_URL="https://eye.example:8443") as (world, program):
        made = detecting(world, program).create().json()

    path = f"/api/detector/v1/process/{made['ContextId']}"
    assert made["ProcessRequestUrl"] == f"https://eye.example:8443{path}"
    assert made["FallbackProcessRequestUrl"] == BASE_URL + path
