"""The relay's own answers: failures of the service, and requests that can't be read."""

import json
from contextlib import AbstractContextManager
from http import HTTPStatus

from printreach.contract.commands import ERROR_FIELD
from printreach.contract.errors import ErrorCode, Failure, name_of
from printreach.http1.heads import Request
from printreach.languages import negotiate, speaking
from printreach.rules.connections import Refused
from printreach.wire.heads import REQUEST_ID_FIELD, Headers, get

from .answering import AnswerWriter, encode_answer_fields
from .page_words import FROM_ANOTHER_SITE, Reader, failure_of
from .pages import (
    ERROR_PAGE_CSP,
    SIGN_IN_PAGE_CSP,
    confirmation_page,
    error_body,
    error_page,
    opening_page,
    sign_in_page,
)

_NO_STORE = (b"Cache-Control", b"no-store")
_COME_BACK = (b"Retry-After", b"10")
_JSON = (b"Content-Type", b"application/json")
_HTML = (b"Content-Type", b"text/html; charset=utf-8")
_PAGE: Headers = [_HTML, (b"Content-Security-Policy", ERROR_PAGE_CSP)]
_FORM_PAGE: Headers = [
    _HTML,
    (b"Content-Security-Policy", SIGN_IN_PAGE_CSP),
    (b"X-Frame-Options", b"DENY"),
    (b"Referrer-Policy", b"same-origin"),
]


def plain_refusal(status: int, sentence: str) -> bytes:
    """A whole answer to a request that can't be read or was not finished; the connection ends."""
    body = json.dumps({"Status": status, "Error": sentence}).encode()
    return (
        b"HTTP/1.1 %d %b\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
        b"Content-Length: %d\r\nConnection: close\r\n\r\n%b"
        % (status, _reason(status), len(body), body)
    )


def refuse(
    writer: AnswerWriter,
    code: ErrorCode,
    reader: Reader,
    detail: str | None = None,
    failure: Failure | None = None,
) -> None:
    """Answer with a failure of the service: as JSON, or as a page to a browser.

    failure: what the code means here, if it isn't what it usually means.
    """
    if wants_page(writer.request):
        with _speaking_to(writer):
            page = error_page(code, detail, reader=reader, failure=failure)
        _fail(writer, code, page, _PAGE, failure)
    else:
        _fail(writer, code, error_body(code, detail), [_JSON], failure)


def ask_for_confirmation(writer: AnswerWriter, reader: Reader) -> None:
    """Refuse a navigation that another site began; the page's link starts it again from here."""
    with _speaking_to(writer):
        page = confirmation_page(writer.request.target, reader)
    _fail(writer, ErrorCode.BAD_CREDENTIALS, page, _PAGE, FROM_ANOTHER_SITE)


def ask_to_sign_in(writer: AnswerWriter, action: bytes, error: str = "", wait_s: int = 0) -> None:
    """Ask for the user name and the password of a shared printer, with the code of a refusal.

    action: the path of the form. wait_s: until the next try, if there were too many.
    """
    wait: Headers = [(b"Retry-After", b"%d" % wait_s)] if wait_s else []
    with _speaking_to(writer):
        page = sign_in_page(action.decode("ascii"), error)
    _fail(writer, ErrorCode.BAD_CREDENTIALS, page, [*_FORM_PAGE, *wait])


def open_printer(writer: AnswerWriter, cookie: bytes, path: str, *, redirect: bool) -> None:
    """Set the host's cookie and redirect to that path of the printer.

    redirect: False if the browser came from another site; see opening_page().
    """
    headers: Headers = [(b"Set-Cookie", cookie), _NO_STORE]
    if redirect:
        policy = (b"Referrer-Policy", b"no-referrer")
        answer(writer, 303, b"See Other", [(b"Location", path.encode()), *headers, policy])
    else:
        policy = (b"Referrer-Policy", b"strict-origin")  # shows the host, and not what the link has
        with _speaking_to(writer):
            page = opening_page(path)
        answer(writer, 200, b"OK", [*_PAGE, *headers, policy], page)


def _speaking_to(writer: AnswerWriter) -> AbstractContextManager[None]:
    wanted = get(writer.request.headers, b"accept-language") or b""
    return speaking(negotiate(wanted.decode("latin-1")))


def _fail(
    writer: AnswerWriter,
    code: ErrorCode,
    body: bytes,
    headers: Headers,
    failure: Failure | None = None,
) -> None:
    marker = (ERROR_FIELD, b"%d" % code)
    if code is ErrorCode.UNKNOWN:
        headers = [*headers, _COME_BACK]
    reason = name_of(code, failure).capitalize().encode()
    answer(writer, int(code), reason, [*headers, marker, _NO_STORE], body)


def refuse_admission(writer: AnswerWriter, refused: Refused, reader: Reader) -> None:
    """Answer with the refusal of `find_refusal`."""
    refuse(writer, refused.code, reader, refused.sentence, failure_of(refused))


def answer(
    writer: AnswerWriter, status: int, reason: bytes, headers: Headers, body: bytes = b""
) -> None:
    """Write a whole small answer of the relay's own."""
    request = writer.request
    facts = [(b"Content-Length", b"%d" % len(body)), (REQUEST_ID_FIELD, request.request_id)]
    sent = b"" if request.method == b"HEAD" else body
    fields = encode_answer_fields(status, [*headers, *facts])
    writer.start(status, reason, fields, len(body), sent, fin=True)


def wants_page(request: Request) -> bool:
    """Return whether a browser is navigating; scripts, apps and WebSocket handshakes get JSON."""
    accepted = get(request.headers, b"accept")
    return accepted is not None and b"text/html" in accepted.lower() and request.upgrade is None


def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b"Refused"
