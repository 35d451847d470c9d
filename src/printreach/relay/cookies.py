"""Cookies on printer hosts: ours never reach a printer, and a printer's never pass for ours."""

from printreach.wire.heads import Headers

OWN_COOKIE = b"printreach_own"
_OURS = (b"printreach_", b"__host-printreach_")


def own_cookie_name(scheme: str) -> bytes:
    """On https a browser holds a `__Host-` cookie to this host, https and path /."""
    return b"__Host-" + OWN_COOKIE if scheme == "https" else OWN_COOKIE


def set_own_cookie(scheme: str, secret: str, max_age_s: int) -> bytes:
    """The Set-Cookie value that signs a browser in to one own- host."""
    secure = b"; Secure" if scheme == "https" else b""
    return b"%b=%b; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%b" % (
        own_cookie_name(scheme),
        secret.encode("ascii"),
        max_age_s,
        secure,
    )


def cookie_values(headers: Headers, name: bytes) -> list[bytes]:
    """Every value a cookie of that name was sent with: a planted one may stand before ours."""
    values: list[bytes] = []
    for field, line in headers:
        if field.lower() == b"cookie":
            for pair in line.split(b";"):
                key, _, value = pair.strip().partition(b"=")
                if key == name:
                    values.append(value)
    return values


def without_ours(cookie_line: bytes) -> bytes:
    """A Cookie line as the printer may see it; empty when only ours were there."""
    if b"printreach_" not in cookie_line.lower():
        return cookie_line
    pairs = (pair.strip() for pair in cookie_line.split(b";"))
    return b"; ".join(pair for pair in pairs if pair and not _is_ours(pair))


def clean_set_cookie(value: bytes) -> bytes | None:
    """A printer's Set-Cookie value without Domain; None when it names one of our cookies."""
    pair, *attributes = value.split(b";")
    if _is_ours(pair.strip()):
        return None
    kept = [one for one in attributes if one.partition(b"=")[0].strip().lower() != b"domain"]
    return b";".join([pair, *kept]).rstrip(b" \t")


def _is_ours(pair: bytes) -> bool:
    # A cookie without a name, `=a=b`, is sent back as `a=b`.
    return pair.lstrip(b"= \t").partition(b"=")[0].strip().lower().startswith(_OURS)
