"""A provider of OpenID Connect that a test can have lie, in every part of what it says."""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from printreach.backends.oidc import metadata
from tests.fakes.clock import FakeClock

CLIENT_ID = "printreach"
CLIENT_SECRET = "a secret: 100%+1&?"
TIMEOUT_S = 60.0
Json = dict[str, Any]


@cache
def key(name: str) -> RSAKey:
    """A key of that name; each is made once, for making one takes a tenth of a second."""
    return RSAKey.generate_key(2048, parameters={"kid": name})


@dataclass
class FakeOidcProvider:
    """It signs in whoever the test says. All of it may be changed while it runs.

    person: what it knows of them. user_info: what its page about them says, where it has one.
    sign: makes the token of its claims.
    """

    clock: FakeClock
    issuer: str = ""
    person: Json = field(default_factory=lambda: {"sub": "1001"})
    user_info: Json | None = None
    metadata: Json = field(default_factory=dict)
    keys: list[Json] = field(default_factory=lambda: [key("first").as_dict(is_private=False)])
    claims: Json = field(default_factory=dict)
    sign: Callable[[Json], str] = field(
        default=lambda claims: jwt.encode({"alg": "RS256", "kid": "first"}, claims, key("first"))
    )
    is_down: bool = False
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorise(self, address: str) -> str:
        """Return the query that a browser sent there brings back."""
        asked = dict(parse_qsl(urlsplit(address).query))
        code = secrets.token_hex(8)
        self.codes[code] = asked
        return urlencode({"code": code, "state": asked["state"]})

    def answer(self, method: str, path: str, headers: dict[str, str], body: str) -> tuple[int, Any]:
        """Return its answer, as status and JSON."""
        self.asked.append(path)
        if self.is_down:
            return 503, {}
        match method, path:
            case "GET", "/.well-known/openid-configuration":
                return 200, self._metadata()
            case "GET", "/keys":
                return 200, {"keys": self.keys}
            case "POST", "/token":
                return self._token(headers, dict(parse_qsl(body)))
            case "GET", "/person" if headers.get("authorization") == "Bearer the-access-token":
                return 200, self.user_info
            case _:
                return 404, {}

    def _metadata(self) -> Json:
        said: Json = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorise?tenant=a",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }
        if self.user_info is not None:
            said["userinfo_endpoint"] = f"{self.issuer}/person"
        return said | self.metadata

    def _token(self, headers: dict[str, str], fields: dict[str, str]) -> tuple[int, Any]:
        asked = self.codes.pop(fields.get("code", ""), None)
        if asked is None or not self._is_client(headers, fields):
            return 400, {"error": "invalid_grant"}
        hashed = hashlib.sha256(fields["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).decode().rstrip("=")
        if asked["code_challenge"] != challenge or asked["redirect_uri"] != fields["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        at = int(self.clock.now().timestamp())
        usual = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": at,
            "exp": at + 300,
            "nonce": asked["nonce"],
        }
        claims = usual | self.person | self.claims
        token = self.sign({name: value for name, value in claims.items() if value is not None})
        return 200, {"id_token": token, "access_token": "the-access-token", "token_type": "Bearer"}

    def _is_client(self, headers: dict[str, str], fields: dict[str, str]) -> bool:
        """By Basic, each half encoded as a form is, or by the form's own fields."""
        if "client_secret" in fields:
            return (fields["client_id"], fields["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
        encoded = base64.b64decode(headers.get("authorization", "").removeprefix("Basic "))
        halves = [parse_qsl(f"x={half}") for half in encoded.decode().split(":")]
        return [half[0][1] for half in halves if half] == [CLIENT_ID, CLIENT_SECRET]


@contextmanager
def fake_provider(clock: FakeClock) -> Iterator[FakeOidcProvider]:
    """Run one on a port of its own. The service waits for it however busy a machine is."""
    provider = FakeOidcProvider(clock)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, said = provider.answer(self.command, self.path, headers, body)
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - the library's name for it

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        with patch.object(metadata, "DEADLINE_S", TIMEOUT_S):
            yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
