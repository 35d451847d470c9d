"""HTTP Digest: the standard's own examples, what PrusaLink and Buddy ask, and nonsense."""

from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.prusalink.api import Account, Challenge, authorization

MUFASA = Account(user="Mufasa", password="Circle of Life")
MAKER = Account(user="maker", password="secret")
PI = b'Digest realm="Administrator", nonce="5ab1", algorithm="MD5-sess", qop="auth", opaque="77"'
BUDDY = b'Digest realm="Printer API", nonce="dcd98b", stale="false"'
RFC7616 = (
    b'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=%b,'
    b' nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",'
    b' opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
)
CNONCE = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"


def parse(header: bytes) -> Challenge:
    asked = Challenge.parse(header)
    assert asked is not None
    return asked


def signed(header: bytes, account: Account = MAKER, count: int = 1) -> str:
    return authorization(parse(header), account, "GET", "/dir/index.html", count, CNONCE).decode()


def test_the_example_of_the_standard_with_md5_comes_out_as_printed_there() -> None:
    assert 'response="8ca523f5e9506fed4657c9700eebdbec"' in signed(RFC7616 % b"MD5", MUFASA)


def test_the_example_of_the_standard_with_sha_256_comes_out_as_printed_there() -> None:
    expected = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"

    assert f'response="{expected}"' in signed(RFC7616 % b"SHA-256", MUFASA)


def test_the_older_standards_digest_has_neither_count_nor_nonce_of_ours() -> None:
    header = signed(BUDDY)

    assert "nc=" not in header
    assert "cnonce=" not in header
    assert "qop=" not in header


def test_a_session_depends_on_our_nonce() -> None:
    asked = parse(PI)
    first, second = (
        authorization(asked, MAKER, "GET", "/", 1, cnonce) for cnonce in ("one", "two")
    )

    assert asked.algorithm == "MD5-sess"
    assert first.partition(b"response=")[2][:34] != second.partition(b"response=")[2][:34]


def test_what_was_asked_is_given_back_as_it_came() -> None:
    header = signed(PI, count=10)

    for part in ('realm="Administrator"', 'nonce="5ab1"', 'opaque="77"', 'algorithm="MD5-sess"'):
        assert part in header
    assert 'nc="0000000a"' in header


def test_what_cannot_be_answered_is_not_a_challenge() -> None:
    for header in (
        b'Basic realm="x"',
        b"Digest",
        b'Digest realm="no nonce"',
        b'Digest nonce="1", algorithm=SHA-512-256',
        b'Digest nonce="1", qop="auth-int"',
    ):
        assert Challenge.parse(header) is None


def test_a_password_shows_in_no_description() -> None:
    assert "secret" not in repr(MAKER)


@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_challenge_does_harm(rest: bytes, user: str) -> None:
    asked = Challenge.parse(b"Digest " + rest)
    if asked is not None:
        account = Account(user=user.encode("utf-8", "replace").decode(), password="x")
        assert authorization(asked, account, "GET", "/", 1, "c").startswith(b"Digest ")
