"""Cookies on printer hosts: ours never reach a printer, and a printer can't set one of ours."""

from printreach.wire.heads import Headers

OWN_COOKIE = b"printreach_own"
MAX_VALUES = 8
_OURS = (b"printreach_", b"__host-printreach_")


def own_cookie_name(scheme: str, tunnel_port: int | None) -> bytes:
    """Return the name of the cookie that signs a browser in to a printer host or tunnel port.

    On https a browser limits a `__Host-` cookie to this host, https and path /. Ports share the
    cookies of their host, so the name contains the port.
    """
    name = OWN_COOKIE if tunnel_port is None else b"%b_%d" % (OWN_COOKIE, tunnel_port)
    return b"__Host-" + name if scheme == "https" else name


def set_own_cookie(scheme: str, tunnel_port: int | None, secret: str, max_age_s: int) -> bytes:
    """Return the Set-Cookie value that signs a browser in."""
    secure = b"; Secure" if scheme == "https" else b""
    return b"%b=%b; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%b" % (
        own_cookie_name(scheme, tunnel_port),
        secret.encode("ascii"),
        max_age_s,
        secure,
    )


def cookie_values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the last MAX_VALUES values of the cookies with that name.

    Pages of other ports or hosts can plant cookies of that name, which a browser sends before ours:
    ours has the shortest path, and no script can replace it. RFC 6265, section 5.4.
    """
    values: list[bytes] = []
    for field, line in headers:
        if field.lower() == b"cookie":
            for pair in line.split(b";"):
                key, _, value = pair.strip().partition(b"=")
                if key == name:
                    values.append(value)
    return values[-MAX_VALUES:]


def without_ours(cookie_line: bytes, tunnel_port: int | None = None) -> bytes:
    """A Cookie line as the printer may see it; empty when only ours were there.

    tunnel_port: whose cookies get back the names that the printer gave them, see set_cookies. They
    stand in place of others of that name, which pages of other ports can set.
    """
    if b"printreach_" not in cookie_line.lower():
        return cookie_line
    pairs = [pair.strip() for pair in cookie_line.split(b";")]
    kept = [pair for pair in pairs if pair and not _is_ours(pair)]
    if tunnel_port is None:
        return b"; ".join(kept)
    prefix = _prefix(tunnel_port)
    renamed = [pair.removeprefix(prefix) for pair in pairs if pair.startswith(prefix)]
    back = [pair for pair in renamed if pair and not _is_ours(pair)]
    names = {pair.partition(b"=")[0].rstrip() for pair in back}
    kept = [pair for pair in kept if pair.partition(b"=")[0].rstrip() not in names]
    return b"; ".join([*kept, *back])


def set_cookies(value: bytes, tunnel_port: int | None = None) -> list[bytes]:
    """The Set-Cookie values that a browser gets for a printer's one.

    tunnel_port: a browser sends the cookies of one port to all ports of the host. So those that no
    script may see, which are sessions as a rule, get a name that tells the port; without_ours takes
    it back there, and leaves it out elsewhere. Scripts need the names of others as they are.
    """
    cleaned = clean_set_cookie(value)
    if cleaned is None:
        return []
    if tunnel_port is None:
        return [cleaned]
    renamed = _prefix(tunnel_port) + cleaned.lstrip()
    attributes = [attribute.strip().lower() for attribute in cleaned.split(b";")[1:]]
    if any(attribute.partition(b"=")[0].rstrip() == b"httponly" for attribute in attributes):
        return [renamed]
    return [cleaned, renamed] if any(map(_ends_cookie, attributes)) else [cleaned]


def clean_set_cookie(value: bytes) -> bytes | None:
    """A printer's Set-Cookie value without Domain; None when it names one of our cookies."""
    pair, *attributes = value.split(b";")
    if _is_ours(pair.strip()):
        return None
    kept = [
        attribute
        for attribute in attributes
        if attribute.partition(b"=")[0].strip().lower() != b"domain"
    ]
    return b";".join([pair, *kept]).rstrip(b" \t")


def _prefix(tunnel_port: int) -> bytes:
    return b"printreach_at_%d_" % tunnel_port


def _ends_cookie(attribute: bytes) -> bool:
    """Return whether a browser forgets the cookie; servers may leave out HttpOnly then."""
    name, _, value = (part.strip() for part in attribute.partition(b"="))
    if name == b"max-age":
        return value.startswith((b"0", b"-"))
    return name == b"expires" and b"1970" in value


def _is_ours(pair: bytes) -> bool:
    # A cookie without a name, `=a=b`, is sent back as `a=b`.
    return pair.lstrip(b"= \t").partition(b"=")[0].strip().lower().startswith(_OURS)
