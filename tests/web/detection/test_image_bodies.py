"""Malformed, slow and oversized bodies that are sent to `process`."""

import asyncio
import gzip

import pytest
from litestar.types import HTTPReceiveMessage, Message, Scope
from litestar.types.asgi_types import HTTPDisconnectEvent, HTTPRequestEvent

from printreach.contract.detection_api import DetectionError
from printreach.ports.scoring import ImageScore
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.detection.usage import Calls
from printreach.web.detection.image_body import MAX_OVERHEAD_BYTES
from tests.web.detection.detecting import IMAGE, DetectionClient, detecting, error_of, told
from tests.web.world import Browser, WebWorld, run

FORM = "multipart/form-data; boundary=edge"
IMAGE_PART = b'Content-Disposition: form-data; name="a"; filename="b.jpg"\r\n\r\n'
FIELD_PART = b'Content-Disposition: form-data; name="note"\r\n\r\n'


def form(*parts: bytes, boundary: bytes = b"edge") -> bytes:
    """Parts, each with its head."""
    return b"".join(b"--%b\r\n%b\r\n" % (boundary, part) for part in parts) + b"--%b--\r\n" % (
        boundary
    )


ONE_IMAGE = form(IMAGE_PART + IMAGE)


@pytest.fixture
def caller(world: WebWorld, program: Browser) -> DetectionClient:
    return detecting(world, program)


@pytest.mark.parametrize(
    "part",
    [
        b'Content-Disposition: form-data; name="x"; filename="y.png"\r\nContent-Type: image/png',
        b'Content-Disposition: form-data; name=""; filename="../../etc/passwd"',
        b'content-disposition: FORM-DATA; filename="x"',
        b"Content-Disposition: form-data; name=\"x\"; filename*=UTF-8''%e2%82%ac",
        b'Content-Disposition: form-data; name="image"\r\nContent-Type: image/jpeg',
        b'Content-Disposition: form-data; name="i"\r\nContent-Type: application/octet-stream',
    ],
)
def test_field_and_file_may_have_any_name(caller: DetectionClient, part: bytes) -> None:
    body = form(part + b"\r\n\r\n" + IMAGE)

    assert caller.send(caller.context(), body, FORM).status_code == 200
    assert caller.world.scorer.shown[0][0] == IMAGE


def test_other_fields_beside_the_image_are_passed_over(caller: DetectionClient) -> None:
    body = b"before\r\n" + form(FIELD_PART + b"one", IMAGE_PART + IMAGE, FIELD_PART) + b"after"

    assert caller.send(caller.context(), body, FORM).status_code == 200
    assert caller.world.scorer.shown[0][0] == IMAGE


@pytest.mark.parametrize("size", [MAX_IMAGE_BYTES - 1, MAX_IMAGE_BYTES])
def test_an_image_may_be_as_large_as_is_said(caller: DetectionClient, size: int) -> None:
    assert caller.process(caller.context(), b"x" * size).status_code == 200
    assert len(caller.world.scorer.shown[0][0]) == size


@pytest.mark.provokes("OE_IMAGE_TOO_LARGE")
def test_an_image_of_one_byte_more_is_too_large(caller: DetectionClient) -> None:
    answer = caller.process(caller.context(), b"x" * (MAX_IMAGE_BYTES + 1))

    assert error_of(answer) == told(DetectionError.IMAGE_TOO_LARGE)
    assert caller.world.scorer.shown == []
    assert caller.counted() == Calls()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        form(),
        form(FIELD_PART + b"x"),
        form(IMAGE_PART + IMAGE, IMAGE_PART + IMAGE),
    ],
    ids=["nothing", "no part", "a field", "two images"],
)
def test_none_and_several_files_are_refused(caller: DetectionClient, body: bytes) -> None:
    answer = caller.send(caller.context(), body, FORM)
    expected = DetectionError.BAD_ARGS if body else DetectionError.ARGS_PARSE_FAILED

    assert error_of(answer) == told(expected)
    assert caller.world.scorer.shown == []


NO_FORMS = [
    "",
    "image/jpeg",
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=other",
    "multipart/mixed; boundary=edge",
    "multipart/form-data; boundary=" + "e" * 71,
    "multipart/form-data; boundary=" + "e" * 5000,
]


def test_what_is_no_form_is_refused(caller: DetectionClient) -> None:
    path = caller.context()
    for content_type in NO_FORMS:
        answer = caller.send(path, ONE_IMAGE, content_type)

        assert error_of(answer) == told(DetectionError.ARGS_PARSE_FAILED), content_type


@pytest.mark.parametrize("length", [1, 70])
def test_a_boundary_has_up_to_70_characters(caller: DetectionClient, length: int) -> None:
    boundary = "e" * length
    body = form(IMAGE_PART + IMAGE, boundary=boundary.encode())

    answer = caller.send(caller.context(), body, f'Multipart/Form-Data; boundary="{boundary}"')
    assert answer.status_code == 200


BROKEN_FORMS = {
    "cut off": ONE_IMAGE[:-10],
    "never ending": ONE_IMAGE.replace(b"--edge--", b"--edge"),
    "no head": form(b"No head" + IMAGE),
    "no form-data": form(b"Content-Disposition: attachment\r\n\r\n" + IMAGE),
    "lying length": form(IMAGE_PART[:-2] + b"Content-Length: 999\r\n\r\n" + IMAGE),
    "long head": form(IMAGE_PART[:-2] + b"X-Long: " + b"x" * 5000 + b"\r\n\r\n" + IMAGE),
    "many heads": form(IMAGE_PART[:-2] + b"X: y\r\n" * 20 + b"\r\n" + IMAGE),
    "many fields": form(*[FIELD_PART] * 20, IMAGE_PART + IMAGE),
    "long field": form(FIELD_PART + b"x" * (MAX_OVERHEAD_BYTES + 1), IMAGE_PART + IMAGE),
    "long preamble": b"x" * (MAX_OVERHEAD_BYTES + 1) + b"\r\n" + ONE_IMAGE,
    "long epilogue": ONE_IMAGE + b"x" * (MAX_OVERHEAD_BYTES + 1),
}


def test_a_broken_form_is_refused(caller: DetectionClient) -> None:
    path = caller.context()
    for name, body in BROKEN_FORMS.items():
        answer = caller.send(path, body, FORM)

        assert error_of(answer) == told(DetectionError.ARGS_PARSE_FAILED), name
    assert caller.world.scorer.shown == []
    assert caller.counted() == Calls()


def test_a_compressed_body_is_refused(caller: DetectionClient) -> None:
    headers = caller.headers() | {"content-type": FORM, "content-encoding": "gzip"}
    bomb = gzip.compress(form(IMAGE_PART + b"\0" * 10_000_000))
    answer = caller.program.post(caller.context(), content=bomb, headers=headers)

    assert error_of(answer) == told(DetectionError.ARGS_PARSE_FAILED)


# --- while it is read -----------------------------------------------------------------------------


class BodySender:
    """A caller that sends its body piece by piece, and then leaves, or stays without a word."""

    def __init__(
        self,
        caller: DetectionClient,
        path: str,
        *pieces: bytes,
        is_whole: bool = False,
        **headers: str,
    ) -> None:
        """is_whole: the last piece ends the body."""
        self._caller = caller
        self._pieces = list(pieces)
        self._scope = _scope(path, headers | {"x-api-key": caller.key, "content-type": FORM})
        self.answer: list[Message] = []
        self.stays = False
        self._is_whole = is_whole

    @property
    def unread(self) -> int:
        return len(self._pieces)

    def status(self) -> int:
        """What it is answered."""
        app = self._caller.world.app
        run(self._caller.program, lambda: app(self._scope, self._receive, self._send))
        return int(self.answer[0]["status"])  # type: ignore[typeddict-item]  # the head comes first

    async def _receive(self) -> HTTPReceiveMessage:
        if not self._pieces:
            await asyncio.sleep(3600 if self.stays else 0)
            return HTTPDisconnectEvent(type="http.disconnect")
        piece = self._pieces.pop(0)
        return HTTPRequestEvent(type="http.request", body=piece, more_body=not self._is_whole)

    async def _send(self, message: Message) -> None:
        self.answer.append(message)


def _scope(path: str, headers: dict[str, str]) -> Scope:
    scope: dict[str, object] = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "https",
        "http_version": "1.1",
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ],
        "client": ("203.0.113.9", 0),
        "server": None,
        "state": {},
    }
    return scope  # type: ignore[return-value]  # as the server makes it


MEBIBYTE = b"x" * 1024 * 1024


def test_of_a_body_without_length_no_more_is_read_than_an_image_may_have(
    caller: DetectionClient,
) -> None:
    sending = BodySender(caller, caller.context(), b"--edge\r\n" + IMAGE_PART, *[MEBIBYTE] * 100)

    assert sending.status() == 413
    assert sending.unread == 93


def test_a_body_that_announces_too_much_is_not_read(caller: DetectionClient) -> None:
    sending = BodySender(
        caller,
        caller.context(),
        MEBIBYTE,
        content_length=str(MAX_IMAGE_BYTES + MAX_OVERHEAD_BYTES + 1),
    )

    assert sending.status() == 413
    assert sending.unread == 1


@pytest.mark.parametrize("length", ["-1", "x", "9" * 4000])
def test_a_length_that_is_none_is_refused(caller: DetectionClient, length: str) -> None:
    sending = BodySender(caller, caller.context(), ONE_IMAGE, content_length=length)

    assert sending.status() in (400, 413)


def test_the_body_of_a_caller_without_a_key_is_not_read(caller: DetectionClient) -> None:
    path, caller.key = caller.context(), "prk_unknown"
    sending = BodySender(caller, path, MEBIBYTE)

    assert sending.status() == 401
    assert sending.unread == 1


def test_the_body_for_no_context_is_not_read(caller: DetectionClient) -> None:
    sending = BodySender(caller, "/api/detector/v1/process/none", MEBIBYTE)

    assert sending.status() == 404
    assert sending.unread == 1


def test_the_body_of_an_image_that_comes_too_early_is_not_read(caller: DetectionClient) -> None:
    path = caller.context()
    caller.process(path)
    sending = BodySender(caller, path, MEBIBYTE)

    assert sending.status() == 429
    assert sending.unread == 1


def test_a_caller_that_leaves_before_the_end_has_nothing_scored(
    caller: DetectionClient, caplog: pytest.LogCaptureFixture
) -> None:
    sending = BodySender(caller, caller.context(), ONE_IMAGE[:-1])

    assert sending.status() == 400
    assert caller.world.scorer.shown == []
    assert caplog.records == []


def test_a_caller_that_leaves_before_the_score_pays_nothing(
    caller: DetectionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up = []

    async def never(picture: bytes, masked: object = ()) -> ImageScore:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.append(picture)
        raise AssertionError("nothing wakes it")

    path = caller.context()
    sending = BodySender(caller, path, ONE_IMAGE, is_whole=True)
    with monkeypatch.context() as patched:
        patched.setattr(caller.world.scorer, "score", never)
        sending.status()

    assert given_up == [IMAGE]
    assert caller.counted() == Calls()
    assert caller.process(path).status_code == 200


def test_a_body_that_drips_is_given_up(
    caller: DetectionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller.world.app.state.body_limiters.of_images, "timeout_s", 0.05)
    sending = BodySender(caller, caller.context(), ONE_IMAGE[:-1])
    sending.stays = True

    assert sending.status() == 400
    assert caller.world.scorer.shown == []
