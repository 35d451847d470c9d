"""Headers between callers and printers: no secret of ours, and no cookie for or from others."""

from urllib.parse import unquote_to_bytes

from fuzz.heads import check_fields, request_of, values
from printreach.http1.heads import Request
from printreach.relay.cookies import cookie_values, own_cookie_name
from printreach.relay.cross_site import CookieUse, cookie_use
from printreach.relay.header_filter import (
    BadAnswer,
    credentials_in_headers,
    headers_for_printer,
    read_answer,
    target_for_printer,
)
from printreach.rules.connections import ConnectionKind
from printreach.wire.heads import HOP_BY_HOP, Headers, decode_fields, encode_response

_OURS = (b"printreach_", b"__host-printreach_")
_KEY = b"service_api_key="
_READING = (b"GET", b"HEAD", b"OPTIONS")
_OWN_ORIGIN = "https://own-abc.example"


def cleaning(data: bytes) -> None:
    """Target a request as its printer sees it, and the same headers as those of an answer."""
    found = request_of(data)
    if found is None:
        return
    for kind in ConnectionKind:
        check_request(found, kind)
    check_answer(found.headers)
    use = cookie_use(found, _OWN_ORIGIN, is_guessable=True)
    if use is CookieUse.REFUSED and found.method not in _READING:
        assert values(found.headers, b"origin")[:1] != [_OWN_ORIGIN.encode()]


def check_request(found: Request, kind: ConnectionKind) -> None:
    """Check it as if every credential in it were valid."""
    presented = credentials_in_headers(found.headers, kind, "https", None)
    ours = presented.ours([*presented.authorizations.values()])
    headers = headers_for_printer(found.headers, ours)
    check_fields(headers)
    for name, value in headers:
        lower = name.lower()
        assert lower not in HOP_BY_HOP, name
        assert lower not in (b"forwarded", b"x-real-ip"), name
        assert not lower.startswith(b"x-forwarded-"), name
        assert not (lower == b"authorization" and value in ours), value
        if lower == b"referer":
            assert not has_key(value), value
        if lower == b"cookie":
            check_cookies(value)
    assert headers_for_printer(headers, ours) == headers
    target = target_for_printer(found.target)
    assert not has_key(target), target
    assert target_for_printer(target) == target
    assert cookie_values(headers, own_cookie_name("https", None)) == []


def has_key(target: bytes) -> bool:
    """Return whether its query contains our credentials."""
    return any(pair.startswith(_KEY) for pair in target.partition(b"?")[2].split(b"&"))


def check_cookies(line: bytes) -> None:
    """Parse as a printer does: pairs between semicolons, with blanks around names ignored."""
    for pair in line.split(b";"):
        name = pair.strip().partition(b"=")[0].strip()
        assert not name.lower().startswith(_OURS), line
        assert not unquote_to_bytes(name).startswith(_OURS) or b"%" in name, line


def check_answer(headers: Headers) -> None:
    """Parse as a browser does: RFC 6265, section 5.2, and its later drafts for nameless cookies."""
    try:
        answer = read_answer(encode_response(200, b"OK", headers))
    except BadAnswer:
        return
    passed = decode_fields(b"\n" + answer.fields)
    check_fields(passed)
    for name, value in passed:
        assert name.lower() not in HOP_BY_HOP, name
        assert not name.lower().startswith((b"x-accel-", b"x-sendfile", b"x-reproxy-")), name
        if name.lower() == b"set-cookie":
            pair, *attributes = value.split(b";")
            key, equals, rest = (part.strip(b" \t") for part in pair.partition(b"="))
            sent_back = rest if not key and equals else key if equals else pair.strip(b" \t")
            assert not sent_back.lower().startswith(_OURS), value
            kinds = [one.partition(b"=")[0].strip(b" \t").lower() for one in attributes]
            assert b"domain" not in kinds, value
    lengths = values(passed, b"content-length")
    assert lengths == ([] if answer.length is None else [b"%d" % answer.length]) or all(
        int(one) == answer.length for one in lengths
    )
