"""Failures of the web role: `{"Status","Error"}` for programs, a page for people.

App APIs fail with the service's own codes, so that an app never mistakes them for its printer's
answers. Pages are on a host of ours and fail with plain HTTP statuses.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from traceback import walk_tb
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec
from litestar import Request, Response
from litestar.exceptions import (
    HTTPException,
    InternalServerException,
    NotFoundException,
    PermissionDeniedException,
    SerializationException,
    ValidationException,
)
from litestar.openapi.datastructures import ResponseSpec
from litestar.response import Template
from litestar.serialization import decode_json

from printreach.contract.codec import NOT_JSON, in_plain_words
from printreach.contract.commands import ERROR_FIELD
from printreach.contract.errors import BUSY, FAILURES, ErrorCode
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_, translate
from printreach.limiters.fair_semaphore import TooBusy
from printreach.ports import Unavailable

T = TypeVar("T")

_log = logging.getLogger(__name__)

AnyRequest: TypeAlias = Request[Any, Any, Any]
"""A request whose user and state are of no interest."""


LONGEST_PATH_IN_LOG: Final = 200

COME_BACK: Final[Mapping[str, str]] = MappingProxyType({"Retry-After": "10"})
"""The headers of a 503."""

_MISSING: Final = re.compile(r"Object missing required field `(.*?)`")
_MISSING_PARAMETER: Final = re.compile(r"Missing required \w+ parameter '(.*?)' for path")
_STATUS_NAMES: Final = frozenset(status.phrase for status in HTTPStatus)


class Problem(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """The body of every failure for programs."""

    status: int
    error: str


class PrinterNotFound(NotFoundException):
    """The account has no such printer; it may have had one."""


class NotAllowed(PermissionDeniedException):
    """The person may use the printer, but not for this."""


def described_failures(*codes: int) -> Mapping[int, ResponseSpec]:
    """Describe what an API answers in place of its result, by the codes of its failures."""
    return {
        code: ResponseSpec(
            Problem,
            # Examples would be random, and the document would differ each time it is written.
            generate_examples=False,
            description=_meaning_of(code),
        )
        for code in codes
    }


def _meaning_of(code: int) -> str:
    known = {int(failure): described.meaning for failure, described in FAILURES.items()}
    return known.get(code) or HTTPStatus(code).phrase


def or_404(result: T | Denied) -> T:
    """Return the result of a use case. Raises NotFoundException if it was denied, and NotAllowed
    if the person may use the printer for other things.
    """
    if isinstance(result, Denied):
        if result.reason is Reason.NOT_ALLOWED:
            raise NotAllowed(result.sentence)
        is_printer = result.reason is Reason.NO_SUCH_PRINTER
        raise (PrinterNotFound if is_printer else NotFoundException)(result.sentence)
    return result


class ServiceFailure(Exception):
    """An App API fails with one of the service's own codes.

    detail: a sentence for the app beyond the code's meaning.
    """

    def __init__(self, code: ErrorCode, detail: str | None = None) -> None:
        self.code = code
        self.detail = detail or FAILURES[code].meaning
        super().__init__(f"{code:d} {self.detail}")


@dataclass(frozen=True, slots=True)
class Advice:
    """The text of a page about a plain HTTP error, and the page of ours that it leads to."""

    title: str
    remedy: str
    href: str = "/"
    button: str = N_("Go to the front page")


_ADVICE: Final[Mapping[int, Advice]] = MappingProxyType(
    {
        400: Advice(N_("This request can't be read"), N_("Go back and check what you entered.")),
        403: Advice(
            N_("This isn't allowed from here"),
            N_("Open this service by its own address, and try again there."),
        ),
        404: Advice(
            N_("There's no such page"),
            N_("Check the address for a typo, or start at the front page."),
        ),
        405: Advice(N_("This page can't do that"), N_("Go back, or start at the front page.")),
        408: Advice(
            N_("That took too long"),
            N_("Go back and try again, on a better connection if you can."),
        ),
        413: Advice(N_("That's too large"), N_("Go back and send something smaller.")),
        414: Advice(N_("This address is too long"), N_("Start at the front page.")),
        415: Advice(N_("This form can't be read"), N_("Go back to the form and send it again.")),
        429: Advice(N_("Too many requests"), N_("Wait a minute, then try again.")),
        431: Advice(
            N_("Your browser sent too many cookies"),
            N_("Delete the cookies of this site, then try again."),
        ),
        500: Advice(
            N_("Something went wrong here"),
            N_("Try again in a moment. If it happens again, the service's log says why."),
        ),
        503: Advice(N_("Too many people at once"), N_("Wait ten seconds, then try again.")),
    }
)
_INCOMPLETE_ADDRESS: Final = Advice(
    title=N_("This address isn't complete"),
    remedy=N_("The part after the question mark is missing. Start at the front page."),
)
_NO_SUCH_PRINTER: Final = Advice(
    title=N_("This printer isn't in your account"),
    remedy=N_("It may have been removed, or the address is wrong."),
    href="/printers",
    button=N_("Go to your printers"),
)
_NOT_ALLOWED: Final = Advice(
    title=N_("You don't have permission for this"),
    remedy=N_("This printer is shared with you."),
    href="/printers",
    button=N_("Go to your printers"),
)
_RELOAD: Final = "event: reload\ndata: {}\n\n"
"""The answer of an open page's event stream when the page can't be shown any more."""


def answer_app_api_failure(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Tell an app what failed; an unforeseen failure is 600, and is logged."""
    match failure:
        case ServiceFailure():
            return _problem(failure.code, failure.detail)
        case HTTPException() if failure.status_code < 500:
            return _problem(failure.status_code, _sentence(failure), failure.headers)
        case TooBusy() | Unavailable():
            log_overload(request, failure)
            return _problem(503, BUSY, COME_BACK)
        case UnicodeDecodeError() | RecursionError() if _is_of_body(failure):
            return _problem(400, NOT_JSON)
        case _:
            _log_surprise(request, failure)
            return _problem(ErrorCode.UNKNOWN, FAILURES[ErrorCode.UNKNOWN].meaning)


def answer_failure(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Answer a person with a page, and a program with a Problem."""
    if not isinstance(failure, HTTPException) or failure.status_code >= 500:
        _log_surprise(request, failure)
        failure = InternalServerException()
    if not wants_page(request):
        return _problem(failure.status_code, _sentence(failure), failure.headers)
    if request.method in {"GET", "HEAD"} and _MISSING_PARAMETER.match(failure.detail):
        shown = {"status": 400, "advice": _INCOMPLETE_ADDRESS, "explanation": ""}
        return Template("problem.html", context=shown, status_code=400)
    return Template(
        "problem.html",
        context={
            "status": failure.status_code,
            "advice": _ADVICE.get(failure.status_code, _ADVICE[400]),
            "explanation": "" if _says_nothing_more(failure) else _sentence_for_people(failure),
        },
        status_code=failure.status_code,
        headers=failure.headers,
    )


def answer_no_such_printer(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Say that the printer is gone; a page of it that is still open reloads, and then says so."""
    if "text/event-stream" in request.headers.get("accept", ""):
        return Response(_RELOAD, media_type="text/event-stream")
    if not wants_page(request):
        return answer_failure(request, failure)
    shown = {"status": 404, "advice": _NO_SUCH_PRINTER, "explanation": ""}
    return Template("problem.html", context=shown, status_code=404)


def answer_not_allowed(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Say what the person may not do with a printer that is shared with them."""
    if not wants_page(request):
        return answer_failure(request, failure)
    assert isinstance(failure, NotAllowed)
    shown = {"status": 403, "advice": _NOT_ALLOWED, "explanation": _sentence_for_people(failure)}
    return Template("problem.html", context=shown, status_code=403)


def ask_to_come_back(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Answer 503 for a temporary overload."""
    log_overload(request, failure)
    if not wants_page(request):
        return _problem(503, BUSY, COME_BACK)
    advice = _ADVICE[503]
    shown = {"status": 503, "advice": advice, "explanation": ""}
    return Template("problem.html", context=shown, status_code=503, headers=dict(COME_BACK))


def _problem(
    status: int, error: str, headers: Mapping[str, str] | None = None
) -> Response[Problem]:
    all_headers = dict(headers or {})
    if status in FAILURES:
        all_headers[ERROR_FIELD.decode()] = str(int(status))
    body = Problem(status=int(status), error=error)
    return Response(body, status_code=int(status), headers=all_headers)


def _sentence(failure: HTTPException) -> str:
    """Write the framework's finding as a sentence that names the argument, if it is known."""
    if isinstance(failure, ValidationException) and isinstance(failure.extra, list):
        return " ".join(f"{_argument(row)}." for row in failure.extra)
    missing = _MISSING_PARAMETER.match(failure.detail)
    if missing is not None:
        return f"{missing[1]} is missing."
    if isinstance(failure.__cause__, SerializationException):
        return NOT_JSON
    return failure.detail.rstrip(".") + "."


def _sentence_for_people(failure: HTTPException) -> str:
    """Return the same in the reader's language, as far as it is ours."""
    translated = translate(failure.detail)
    return _sentence(failure) if translated == failure.detail else translated


def _is_of_body(failure: Exception) -> bool:
    """Return whether reading a body failed: the framework handles msgspec's own failures alone."""
    frames = walk_tb(failure.__traceback__)
    return any(frame.f_code.co_name == decode_json.__name__ for frame, _ in frames)


def _says_nothing_more(failure: HTTPException) -> bool:
    """Return whether the detail is only the name of the status."""
    return failure.detail in _STATUS_NAMES


def _argument(row: Mapping[str, object]) -> str:
    message = str(row.get("message", "not valid")).rstrip(".")
    missing = _MISSING.match(message)
    if missing is not None:
        return f"{missing[1]} is missing"
    if "key" not in row:
        return message
    key = str(row["key"])
    name = "The body" if key == "data" else key
    is_missing = message == repr(key)
    return f"{name} is missing" if is_missing else f"{name}: {in_plain_words(message)}"


def wants_page(request: AnyRequest) -> bool:
    """Return whether the client is a browser that wants a page."""
    return "text/html" in request.headers.get("accept", "")


def path_in_log(request: AnyRequest) -> str:
    """Return the path for a log line: percent-encoded, and cut.

    Queries are left out, since those of the portal must not be logged.
    """
    return quote(request.scope["path"])[:LONGEST_PATH_IN_LOG]


def log_overload(request: AnyRequest, failure: Exception) -> None:
    """Log it in one line."""
    _log.warning("%s %s: %s", request.method, path_in_log(request), failure)


def _log_surprise(request: AnyRequest, failure: Exception) -> None:
    _log.error("%s %s failed", request.method, path_in_log(request), exc_info=failure)
