"""httpbin answers the same through the service as directly: status, headers, body."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.conftest import goes_straight
from tests.rigs.calls import Answer, call
from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.service import Service
from tests.rigs.waiting import accepts_connections, free_port
from tests.rigs.ways import Header, Way, basic, bearer

pytestmark = [pytest.mark.slow, pytest.mark.peer]

HOP_BY_HOP = {"connection", "date", "keep-alive", "transfer-encoding"}
# made anew for every answer, whoever asks
RANDOM = re.compile(
    rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a UUID
    rb"|(?<=nonce=\")[0-9a-f]+|(?<=opaque=\")[0-9a-f]+"  # a Digest challenge
)
RANDOM_HEADERS = {"/cache": {"ETag", "Last-Modified"}}
FORM = ("Content-Type", "application/x-www-form-urlencoded")
MULTIPART = ("Content-Type", "multipart/form-data; boundary=b")
FILE = (
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.gcode"\r\n\r\n'
    b"G28\r\n--b--\r\n"
)
EVERY_METHOD = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "HEAD")


@dataclass(frozen=True)
class Case:
    """One request."""

    target: str
    method: str = "GET"
    headers: tuple[Header, ...] = ()
    body: bytes = b""

    def __str__(self) -> str:
        """What pytest shows."""
        return f"{self.method} {self.target}"


CASES = [
    *(Case(f"/anything/{method}/a%2Fb?x=1&x=2&y=%C3%A9", method) for method in EVERY_METHOD),
    *(Case("/anything", method, body=b'{"a": 1}') for method in ("POST", "PUT", "PATCH", "DELETE")),
    *(
        Case(f"/status/{code}")
        for code in (200, 201, 202, 204, 206, 301, 302, 303, 304, 305, 307, 308)
    ),
    *(
        Case(f"/status/{code}")
        for code in (400, 401, 402, 403, 404, 406, 407, 409, 418, 429, 500, 502, 503, 504, 599)
    ),
    *(Case("/status/418", method) for method in ("POST", "PUT", "PATCH", "DELETE", "HEAD")),
    Case("/status/no-number"),
    *(Case("/redirect-to?url=%2Fget&status_code=307", method) for method in ("GET", "POST", "PUT")),
    Case("/redirect-to?url=https%3A%2F%2Fexample.com%2F"),
    *(Case(target) for target in ("/redirect/1", "/redirect/3", "/redirect/2?absolute=true")),
    *(Case(target) for target in ("/relative-redirect/2", "/absolute-redirect/2", "/links/5")),
    *(Case(target) for target in ("/", "/html", "/robots.txt", "/deny", "/xml", "/json")),
    *(Case(target) for target in ("/ip", "/uuid", "/headers", "/user-agent", "/get?a=1&a=2")),
    *(Case(target) for target in ("/gzip", "/deflate", "/brotli", "/encoding/utf8")),
    *(Case(target) for target in ("/forms/post", "/links/10/2", "/static/favicon.ico", "/nothing")),
    *(Case(target, headers=(("Accept-Encoding", "gzip"),)) for target in ("/gzip", "/json")),
    Case("/headers", headers=(("X-Api-Key", "k"), ("Cookie", "a=b"), ("X-Empty", ""))),
    Case("/user-agent", headers=(("User-Agent", "slicer/1.0"),)),
    Case("/post", "POST", (FORM,), b"a=1&b=2"),
    Case("/post", "POST", (MULTIPART,), FILE),
    Case("/post", "POST", (), b"\x00\xff\xfe"),
    Case("/put", "PUT", (), b"put body"),
    Case("/patch", "PATCH", (), b"patch body"),
    Case("/delete", "DELETE"),
    Case("/get", "POST"),
    Case("/get", "HEAD"),
    Case("/get", "OPTIONS", (("Access-Control-Request-Headers", "X-Api-Key"),)),
    Case("/response-headers?X-One=1&X-One=2&Content-Type=text/x-gcode"),
    Case("/response-headers?X-One=1", "POST"),
    Case("/cookies", headers=(("Cookie", "first=1; second=two"),)),
    Case("/cookies/set?a=1&b=2&c=3"),
    Case("/cookies/set/name/value"),
    Case("/cookies/delete?a=&b=", headers=(("Cookie", "a=1; b=2"),)),
    *(Case(f"{prefix}basic-auth/user/pass") for prefix in ("/", "/hidden-")),
    Case("/bearer"),
    Case("/digest-auth/auth/user/pass"),
    Case("/digest-auth/auth/user/pass/SHA-256"),
    Case("/digest-auth/auth-int/user/pass/MD5/3"),
    *(Case(f"/delay/{seconds}") for seconds in ("0", "0.3")),
    Case("/delay/0.1", "POST", (), b"late"),
    Case("/drip?duration=0.3&numbytes=30&delay=0.1"),
    Case("/drip?duration=0.1&numbytes=3&code=201"),
    Case("/base64/SGVsbG8="),
    Case("/cache"),
    Case("/cache", headers=(("If-None-Match", '"x"'),)),
    Case("/cache/60"),
    Case("/etag/abc"),
    Case("/etag/abc", headers=(("If-None-Match", '"abc"'),)),
    Case("/etag/abc", headers=(("If-Match", '"other"'),)),
    Case("/bytes/102400?seed=1"),
    Case("/stream-bytes/102400?seed=2&chunk_size=1000"),
    Case("/stream/20"),
    Case("/range/100000"),
    Case("/range/1000?chunk_size=10", headers=(("Range", "bytes=10-500"),)),
    Case("/range/1000", headers=(("Range", "bytes=2000-"),)),
    *(Case(f"/image/{kind}") for kind in ("png", "jpeg", "webp", "svg")),
    Case("/image", headers=(("Accept", "image/webp"),)),
    Case("/image", headers=(("Accept", "application/json"),)),
]


@pytest.fixture(scope="module")
def address(rigs_folder: Path) -> Iterator[str]:
    with httpbin(rigs_folder) as url:
        yield url


@pytest.fixture(scope="module")
def through(request: pytest.FixtureRequest, address: str) -> Iterator[Way]:
    """The way under test."""
    if goes_straight():
        yield Way.straight(address)
        return
    running: Service = request.getfixturevalue("relay")
    with running.printer("httpbin", address) as linked:
        yield running.way(running.connect(linked))


def comparable(case: Case, answer: Answer) -> tuple[int, str, list[Header], bytes]:
    """The answer without what differs from one answer to the next or from hop to hop."""
    left_out = HOP_BY_HOP | {name.lower() for name in RANDOM_HEADERS.get(case.target, ())}
    headers = [
        (name, RANDOM.sub(b"*", value.encode("latin-1")).decode("latin-1"))
        for name, value in answer.headers
        if name.lower() not in left_out and not is_told_by_the_hop(name, answer)
    ]
    return answer.status, answer.reason, headers, RANDOM.sub(b"*", answer.body)


def is_told_by_the_hop(name: str, answer: Answer) -> bool:
    """A length that the body shows anyhow; a hop may announce it where httpbin sent chunks."""
    return name.lower() == "content-length" and answer.first(name) == str(len(answer.body))


def ask(way: Way, case: Case, *headers: Header) -> tuple[int, str, list[Header], bytes]:
    sent = (*case.headers, *headers)
    return comparable(
        case, call(way, case.target, method=case.method, headers=sent, body=case.body)
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_httpbin_answers_the_same_through_the_service(
    through: Way, address: str, case: Case
) -> None:
    # Asked directly under the same name, httpbin echoes the same addresses.
    direct = Way.straight(address).named(through.host)

    assert ask(through, case) == ask(direct, case)


@pytest.mark.parametrize(
    ("path", "proof"),
    [
        ("/basic-auth/user/pass", basic("user", "pass")),
        ("/basic-auth/user/pass", basic("user", "wrong")),
        ("/hidden-basic-auth/user/pass", basic("user", "pass")),
        ("/bearer", bearer("of-the-printer")),
    ],
)
def test_the_printers_own_password_works_beside_a_key_in_the_query(
    through: Way, address: str, path: str, proof: Header
) -> None:
    if through.is_direct:
        pytest.skip("there is no key to send")
    key = through.credentials[0][1].removeprefix("Basic ")

    answer = ask(through.proving(), Case(f"{path}?service_api_key={key}"), proof)

    assert answer == ask(Way.straight(address).named(through.host), Case(path), proof)


def test_a_body_in_chunks_arrives_whole(through: Way) -> None:
    # Compared by what arrived: how a body is framed is each hop's own affair, and httpbin tells it.
    answer = call(through, "/post", method="POST", body=iter((b"in ", b"several ", b"chunks")))

    assert json.loads(answer.body)["data"] == "in several chunks"


def test_every_route_of_httpbin_has_a_case() -> None:
    program = """
import json, sys
from httpbin import app
adapter, seen = app.url_map.bind("localhost"), set()
for method, target in json.load(sys.stdin):
    path, _, query = target.partition("?")
    try:
        seen.add(adapter.match(path, method, return_rule=True)[0].rule)
    except Exception:
        continue
print(json.dumps(sorted({rule.rule for rule in app.url_map.iter_rules()} - seen)))
"""
    done = subprocess.run(
        [peer_program("httpbin", "python"), "-c", program],
        input=json.dumps([(case.method, case.target) for case in CASES]),
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout) == []


@contextmanager
def httpbin(folder: Path) -> Iterator[str]:
    """Run it and give its address."""
    port = free_port()
    server = ("--bind", f"127.0.0.1:{port}", "--threads", "8", "--keep-alive", "30")
    gunicorn = str(peer_program("httpbin", "gunicorn"))
    argv = [gunicorn, *server, "--no-control-socket", "httpbin:app"]
    with Program("httpbin", argv, logs=folder, cwd=folder) as program:
        program.wait_until("listening", lambda: accepts_connections(port))
        yield f"http://127.0.0.1:{port}"
