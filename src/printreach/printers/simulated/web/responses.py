"""The answers that the printer's web server gives again and again."""

import msgspec

from printreach.http1.messages import Answer, Call
from printreach.wire.heads import Headers

_NOT_STORED = (b"Cache-Control", b"no-store")


def json_answer(value: object, status: int = 200) -> Answer:
    headers = [(b"Content-Type", b"application/json"), _NOT_STORED]
    return Answer(status=status, headers=headers, body=msgspec.json.encode(value))


def error_answer(status: int, sentence: str) -> Answer:
    return json_answer({"Error": sentence}, status)


def wrong_method(allowed: bytes) -> Answer:
    answer = error_answer(405, "This address doesn't take that method.")
    answer.headers.append((b"Allow", allowed))
    return answer


def is_from_another_site(call: Call) -> bool:
    """Return whether a browser says that a page of another host sent this.

    Behind a relay the browser knows the printer by another name, which X-Forwarded-Host tells;
    no page can make a browser send that header without being asked first.
    """
    origin = call.header(b"origin")
    if origin is None:
        return False
    host = origin.partition(b"://")[2].lower()
    own = (call.head.host, call.header(b"x-forwarded-host") or b"")
    return not host or host not in [name.lower() for name in own]


def streamed(content_type: bytes) -> Headers:
    """Headers of a stream that no proxy may gather up before passing it on."""
    return [(b"Content-Type", content_type), _NOT_STORED, (b"X-Accel-Buffering", b"no")]
