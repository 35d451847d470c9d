"""The real origin of a request."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.relay.caller_origin import (
    UNKNOWN,
    Network,
    Origin,
    is_within,
    origin_of,
    read_address,
)
from printreach.wire.heads import Headers

PROXIES: list[Network] = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
CALLER = "203.0.113.9"


def forwarded(*lines: str) -> Headers:
    return [(b"X-Forwarded-For", line.encode("latin-1")) for line in lines]


@pytest.mark.parametrize(
    ("peer", "lines", "address"),
    [
        # nobody is trusted to speak for others but a proxy of ours
        (CALLER, [], CALLER),
        (CALLER, ["198.51.100.1"], CALLER),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [CALLER], CALLER),
        ("fd00::1", [CALLER], CALLER),
        ("::ffff:10.0.0.1", [CALLER], CALLER),
        # the last that isn't ours counts, whatever the caller wrote before it
        ("10.0.0.1", ["198.51.100.1, " + CALLER], CALLER),
        ("10.0.0.1", [f"198.51.100.1, {CALLER}, 10.0.0.2, 10.0.0.3"], CALLER),
        ("10.0.0.1", ["198.51.100.1", CALLER], CALLER),
        ("10.0.0.1", ["10.9.9.9, 10.8.8.8"], "10.9.9.9"),
        ("10.0.0.1", [" \t203.0.113.9\t "], CALLER),
        ("10.0.0.1", [f"{CALLER},, ,"], CALLER),
        ("10.0.0.1", ["2001:db8::7"], "2001:db8::7"),
        # some proxies write the caller's port, too
        ("10.0.0.1", [f"{CALLER}:4711"], CALLER),
        ("10.0.0.1", [f"198.51.100.1, {CALLER}:4711, 10.0.0.2:80"], CALLER),
        ("10.0.0.1", ["[2001:db8::9]:4711"], "2001:db8::9"),
        ("10.0.0.1", ["[2001:db8::9]"], "2001:db8::9"),
        ("10.0.0.1", ["[::ffff:203.0.113.9]:4711"], CALLER),
        ("10.0.0.1", ['"[2001:db8::9]:4711"'], "2001:db8::9"),
        ("10.0.0.1", [f'"{CALLER}:4711"'], CALLER),
        ("10.0.0.1", [f'"{CALLER}"'], CALLER),
        # where a trusted proxy names nobody, the caller is unknown, and never the proxy itself
        ("10.0.0.1", ["unknown"], UNKNOWN),
        ("10.0.0.1", [""], UNKNOWN),
        ("10.0.0.1", [f"{CALLER}, unknown, 10.0.0.2"], UNKNOWN),
        ("10.0.0.1", [f"{CALLER}:"], UNKNOWN),
        ("10.0.0.1", [f"{CALLER}:80:80"], UNKNOWN),
        ("10.0.0.1", ["[2001:db8::9"], UNKNOWN),
        ("10.0.0.1", ["[10.0.0.2]x"], UNKNOWN),
        ("10.0.0.1", [f'"{CALLER}'], UNKNOWN),
        ("10.0.0.1", ["\xff"], UNKNOWN),
        ("10.0.0.1", ["x" * 10_000], UNKNOWN),
    ],
)
def test_the_address_is_the_nearest_that_no_proxy_of_ours_has(
    peer: str, lines: list[str], address: str
) -> None:
    assert origin_of(peer, forwarded(*lines), PROXIES, "http").address == address


@given(
    st.sampled_from(["10.0.0.1", CALLER, "", "unknown"]),
    st.lists(st.text(alphabet="0123456789.,: abx", max_size=30), max_size=4),
)
def test_the_address_is_one_that_was_named_or_unknown(peer: str, lines: list[str]) -> None:
    address = origin_of(peer, forwarded(*lines), PROXIES, "http").address

    if address not in (peer, UNKNOWN):
        assert is_within(peer, PROXIES)
        entries = [entry.strip() for entry in ",".join(lines).split(",")]
        bare = [*entries, *(entry.rpartition(":")[0] for entry in entries)]
        assert ip_address(address) in map(read_address, bare)


@pytest.mark.parametrize(
    "headers",
    [
        forwarded(f"{CALLER}, unknown"),
        [(b"X-Forwarded-Proto", b"https")],
        [(b"X-Forwarded-Host", b"relay.example")],
        [(b"X-Real-IP", CALLER.encode())],
        [(b"Via", b"1.1 proxy")],
    ],
)
def test_a_trusted_proxy_that_names_nobody_does_not_lend_its_own_address(headers: Headers) -> None:
    origin = origin_of("10.0.0.1", headers, PROXIES, "http")

    assert origin.address == UNKNOWN
    assert not origin.is_proven


@given(st.text(alphabet="0123456789.,: abx", max_size=60))
def test_nothing_a_stranger_writes_changes_its_address(line: str) -> None:
    assert origin_of(CALLER, forwarded(line), PROXIES, "http") == Origin(
        CALLER, "http", is_proven=False
    )


@given(st.text(alphabet="0123456789.,: abx", max_size=60))
def test_nothing_a_caller_writes_changes_what_the_proxy_appends(line: str) -> None:
    appended = forwarded(f"{line}, {CALLER}" if line else CALLER)

    assert origin_of("10.0.0.1", appended, PROXIES, "http").address == CALLER


@pytest.mark.parametrize(
    ("said", "scheme"),
    [
        (None, "http"),
        ("https", "https"),
        ("HTTPS", "https"),
        ("http", "http"),
        ("ftp", "http"),
        ("https, http", "http"),
        ("", "http"),
        ("\xff", "http"),
    ],
)
def test_the_scheme_is_what_the_proxy_says_where_that_is_one(said: str | None, scheme: str) -> None:
    headers = [] if said is None else [(b"X-Forwarded-Proto", said.encode("latin-1"))]

    assert origin_of("10.0.0.1", headers, PROXIES, "http").scheme == scheme
    assert origin_of(CALLER, headers, PROXIES, "http").scheme == "http"


@pytest.mark.parametrize(
    ("address", "within"),
    [
        ("10.1.2.3", True),
        ("11.1.2.3", False),
        ("fd00::1", True),
        ("fd00::1%eth0", True),
        ("::ffff:10.1.2.3", True),
        ("::ffff:11.1.2.3", False),
        ("", False),
        ("10.1.2", False),
        ("unix", False),
    ],
)
def test_an_address_is_within_a_network_in_whatever_notation(address: str, within: bool) -> None:
    assert is_within(address, PROXIES) is within


def standard(*lines: str) -> Headers:
    return [(b"Forwarded", line.encode("latin-1")) for line in lines]


@pytest.mark.parametrize(
    ("lines", "address", "scheme"),
    [
        ([f"for={CALLER}"], CALLER, "http"),
        ([f"for={CALLER};proto=https;by=10.0.0.1"], CALLER, "https"),
        ([f'For="{CALLER}:4711"; Proto=HTTPS'], CALLER, "https"),
        (['for="[2001:db8::7]:4711"'], "2001:db8::7", "http"),
        (['for="[2001:db8::7]"'], "2001:db8::7", "http"),
        ([f"for=198.51.100.1, for={CALLER};proto=https"], CALLER, "https"),
        (["for=198.51.100.1;proto=https", f"for={CALLER}"], CALLER, "http"),
        ([f"for={CALLER}, for=10.0.0.2;proto=https"], CALLER, "https"),
        # a quoted comma or semicolon ends nothing
        ([f'for="198.51.100.1, for=198.51.100.2", for={CALLER}'], CALLER, "http"),
        ([f'for={CALLER};by="a;proto=https"'], CALLER, "http"),
        # what names nobody leaves the caller unknown
        (["for=unknown"], UNKNOWN, "http"),
        (["for=_hidden;proto=https"], UNKNOWN, "https"),
        ([f"for={CALLER}, proto=https"], UNKNOWN, "https"),
        ([f"for={CALLER};for=198.51.100.1"], UNKNOWN, "http"),
        ([f"for={CALLER} 198.51.100.1"], UNKNOWN, "http"),
        ([f'for="{CALLER}'], UNKNOWN, "http"),
        # a quote left open hides nothing that the proxy writes behind it
        ([f'x="\\", for={CALLER}'], CALLER, "http"),
        ([f'x="\\", for="[2001:db8::7]:80", for={CALLER};proto=https'], CALLER, "https"),
        (["\xff=\xff"], UNKNOWN, "http"),
    ],
)
def test_the_standard_header_says_the_same(lines: list[str], address: str, scheme: str) -> None:
    is_proven = address != UNKNOWN

    origin = origin_of("10.0.0.1", standard(*lines), PROXIES, "http")

    assert origin == Origin(address, scheme, is_proven)


def test_the_standard_header_of_a_stranger_counts_for_nothing() -> None:
    said = standard("for=198.51.100.1;proto=https")

    assert origin_of(CALLER, said, PROXIES, "http") == Origin(CALLER, "http", is_proven=False)


def test_a_callers_standard_header_is_nothing_beside_what_the_proxy_writes() -> None:
    said = [*standard("for=198.51.100.1;proto=https"), *forwarded(CALLER)]

    assert origin_of("10.0.0.1", said, PROXIES, "http") == Origin(CALLER, "http")


@given(st.text(alphabet='0123456789.,:;=\\" forbyp[]', max_size=60))
def test_nothing_a_caller_writes_changes_the_line_that_the_proxy_adds(line: str) -> None:
    said = standard(line, f"for={CALLER}")

    assert origin_of("10.0.0.1", said, PROXIES, "http").address == CALLER


@pytest.mark.parametrize("quoted", [True, False])
@given(st.text(alphabet='0123456789.,:;=\\" forbyp[]', max_size=60))
def test_nothing_a_caller_writes_before_a_comma_speaks_for_another(quoted: bool, line: str) -> None:
    """At worst a quote of its own swallows what the proxy wrote, and the caller is unknown."""
    own = f'for="{CALLER}:80"' if quoted else f"for={CALLER}"

    said = standard(f"{line}, {own}")
    assert origin_of("10.0.0.1", said, PROXIES, "http").address in (CALLER, UNKNOWN)


def test_a_line_full_of_quotes_is_read_quickly() -> None:
    escaped = 'for="' + '\\"' * 300_000  # each may begin a quote; it took minutes
    said = standard('"' * 30_000, 'for="' * 6_000, "for=" + "\\" * 30_000, escaped)

    assert origin_of("10.0.0.1", said, PROXIES, "http").address == UNKNOWN


@pytest.mark.parametrize(
    ("peer", "headers", "is_proven"),
    [
        (CALLER, [], True),
        (CALLER, [(b"Via", b"1.1 proxy"), (b"Accept", b"*/*")], True),
        (CALLER, forwarded("198.51.100.1"), False),
        (CALLER, [(b"forwarded", b"for=198.51.100.1")], False),
        (CALLER, [(b"X-REAL-IP", b"198.51.100.1")], False),
        (CALLER, [(b"x-forwarded-proto", b"https")], False),
        ("10.0.0.1", [], True),
        ("10.0.0.1", forwarded(CALLER), True),
        ("10.0.0.1", forwarded("unknown"), False),
        ("10.0.0.1", [(b"Forwarded", b"for=_hidden")], False),
    ],
)
def test_an_address_that_may_be_a_proxys_is_not_proven(
    peer: str, headers: Headers, is_proven: bool
) -> None:
    assert origin_of(peer, headers, PROXIES, "http").is_proven is is_proven
