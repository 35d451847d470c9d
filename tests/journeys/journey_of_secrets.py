"""A journey through the real service that makes or uses every kind of secret, and keeps them."""

import base64
import re
import secrets
import time
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx

from printreach.rules.accounts.second_factors import STEP_SECONDS, code_of
from tests.rigs.calls import Answer, call
from tests.rigs.service import APP, Agent, Service
from tests.rigs.smtp_server import MailBox
from tests.rigs.ways import Header, basic, bearer

ADA = "ada@example.org"
SHOWN_ONCE = re.compile(r'data-label="([^"]+)">([^<]+)<')
KEY_FILES = ("service.key", "sealing.keys", "webhook-keys.json", "agent.key")


def new_secret(name: str) -> str:
    """One that is found wherever it turns up, and says what it is."""
    return f"{name.replace(' ', '-')}-{secrets.token_hex(12)}"


@dataclass
class Secrets:
    """Every secret by its name, as people or programs have it."""

    values: dict[str, str] = field(default_factory=dict)

    def make(self, name: str) -> str:
        return self.keep(name, new_secret(name))

    def keep(self, name: str, value: str) -> str:
        assert len(value) >= 6, f"{name} is too short to be found: {value!r}"
        self.values[name] = value
        return value

    def spellings(self) -> dict[str, set[bytes]]:
        """What to look for: each as it is, within an address, and in base64 of its own."""
        return {
            name: {
                value.encode(),
                quote(value, safe="").encode(),
                base64.b64encode(value.encode()).rstrip(b"="),
            }
            for name, value in self.values.items()
        }


@dataclass
class Journey:
    """Where it happens, and what it left. outputs: what callers were told, by what they asked."""

    service: Service
    mails: MailBox
    secrets: Secrets
    outputs: dict[str, bytes] = field(default_factory=dict)
    printers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.browser = self.new_browser()

    def new_browser(self) -> httpx.Client:
        headers = {"Origin": self.service.base_url, "Accept": "text/html"}
        return httpx.Client(base_url=self.service.base_url, headers=headers, timeout=60)

    def send(self, path: str, **fields: str) -> httpx.Response:
        answer = self.browser.post(path, data=fields)
        assert answer.status_code in {200, 303}, f"{path}: {answer.status_code} {answer.text}"
        if answer.status_code == 303:
            return self.browser.get(answer.headers["location"])
        return answer

    def shown_once(self, page: httpx.Response) -> dict[str, str]:
        found = {label: unescape(value) for label, value in SHOWN_ONCE.findall(page.text)}
        assert found, page.text
        return found

    def sign_in_and_protect(self) -> None:
        """A password, a wrong one, a reset by mail, an authenticator app, recovery codes."""
        keep = self.secrets
        invited = re.search(r"signup\?invite=(\w+)", self.service.program.log_tail(200))
        assert invited is not None
        keep.keep("token of the set-up link", invited[1])
        words = ("account", "add", ADA, "--supporter", "--admin")
        self.service.admin(*words, stdin=keep.make("first password") + "\n")
        wrong = {"email": ADA, "password": keep.make("mistyped password")}
        assert self.browser.post("/signin", data=wrong).status_code == 400
        assert self.browser.post("/reset", data={"email": ADA}).status_code == 303
        token = keep.keep("token of a reset", self.token_in_mail("token="))
        self.browser.get("/reset/new", params={"token": token})
        password = keep.make("password")
        self.send("/reset/new", token=token, password=password)
        self.send("/signout")
        self.send("/signin", email=ADA, password=password)
        for name, value in self.browser.cookies.items():
            keep.keep(f"cookie {name}", value)
        text = self.send("/account/totp", **{"totp-password": password}).text
        shown = re.search(r'<code id="secret">([^<]+)<', text)
        assert shown is not None
        key = shown[1].replace(" ", "")
        keep.keep("key of the authenticator app", key)
        keep.keep("same key with blanks", shown[1])
        padded = key + "=" * (-len(key) % 8)
        code = code_of(base64.b32decode(padded), int(time.time() // STEP_SECONDS))
        codes = self.send("/account/totp/confirm", code=code).text
        for number, code in enumerate(re.findall(r"\b[A-Z0-9]{4}(?:-[A-Z0-9]{4})+\b", codes)):
            keep.keep(f"recovery code {number}", code)
        assert "recovery code 9" in keep.values

    def token_in_mail(self, before: str) -> str:
        def find() -> str | None:
            text = "".join(str(mail.get_content()) for mail in self.mails.mails)
            found = re.search(re.escape(before) + r"([\w.-]+)", text)
            return found[1] if found else None

        return self.service.program.wait_until("the mail", find)

    def link(self, name: str, agent: Agent) -> None:
        """One agent's printer, onto the account."""
        code = self.secrets.keep(f"link code of {name}", agent.event("link-code")["LinkCode"])
        words = ("printer", "link", code, "--account", ADA, "--name", name)
        self.printers[name] = self.service.admin(*words)["PrinterId"]
        agent.event("connected")

    def make_keys(self) -> None:
        """What programs use: an access token, a detection key, a place for notifications."""
        keep, password = self.secrets, self.secrets.values["password"]
        scope = {"scope-events:read": "yes"}
        page = self.send("/account/tokens", name="Mine", password=password, **scope)
        token = keep.keep("access token", self.shown_once(page)["Token"])
        page = self.send("/developer/new-key", name="Mine", password=password)
        key = keep.keep("detection key", self.shown_once(page)["API key"])
        place = {"way": "ntfy", "topic": "prints", "server": "127.0.0.1:9"}
        self.send("/notifications/add", **place, token=keep.make("token of a notification"))
        self.ask("/api/detector/v1/createcontext", ("X-API-Key", key), method="POST")
        self.ask("/api/events", bearer(keep.make("wrong access token")))
        assert token

    def connect(self, printer_id: str) -> None:
        """An app, a guest, a viewer, and the owner's own way to that printer."""
        keep = self.secrets
        made = self.service.admin("connection", "add", "--app", APP, "--printer", printer_id)
        host = urlsplit(made["url"]).netloc
        keep.keep("password of the app", made["authBasicHttpPassword"])
        keep.keep("bearer token of the app", made["authBearerToken"])
        token = keep.keep("App API token", made["appApiToken"])
        pair = basic(made["authBasicHttpUser"], made["authBasicHttpPassword"])
        keep.keep("both of the app in base64", pair[1].removeprefix("Basic ").rstrip("="))
        way = self.service.way_at(host)
        for header in (pair, bearer(made["authBearerToken"])):
            assert call(way, "/service-command-api/status", headers=[header]).status == 200
        query = f"/api?service_api_key={made['authBearerToken']}"
        self.keep_answer("a key in the query", call(way, query))
        self.keep_answer("a wrong token", call(way, "/x", headers=[bearer(keep.make("wrong"))]))
        hook = f"http://127.0.0.1:9/in?key={keep.make('key in the address of a webhook')}"
        self.ask(
            "/api/appconnection/SetNotificationWebhook",
            ("AppToken", token),
            method="POST",
            body={"WebhookUrl": hook},
        )
        self.ask("/api/appconnection/TestWebhook", ("AppToken", token))
        self.ask("/api/appconnection/info", ("AppToken", keep.make("wrong App API token")))
        shared = self.shown_once(self.send("/connections/share", printer=printer_id, ends="24"))
        keep.keep("password of a share", shared["Password"])
        live = self.send("/connections/live", printer=printer_id, ends="24")
        found = re.search(r"/live/([a-z2-7]{20,})", live.text + str(live.url))
        assert found is not None, live.text
        keep.keep("Live Link", found[1])
        link = urlsplit(self.service.admin("printer", "open", printer_id)["Url"])
        keep.keep("ticket that opens a printer", link.query.partition("=")[2])
        opened = call(
            self.service.way_at(link.netloc),
            f"{link.path}?{link.query}",
            headers=[("Accept", "text/html")],
        )
        for cookie in opened.all("Set-Cookie"):
            keep.keep("cookie of a printer's host", cookie.split(";")[0].partition("=")[2])
        log = call(way, "/service-command-api/logs/agent", headers=[pair])
        self.keep_answer("the agent's log by the tunnel", log)

    def connect_briefly(self, printer_id: str) -> None:
        """An app that uses what its agent knows secrets of: the printer's status and cameras."""
        made = self.service.admin("connection", "add", "--app", APP, "--printer", printer_id)
        way = self.service.way_at(urlsplit(made["url"]).netloc)
        token = self.secrets.keep("token of another app", made["authBearerToken"])
        for path in ("status", "webcam/list", "webcam/snapshot", "logs/agent"):
            answer = call(way, f"/service-command-api/{path}", headers=[bearer(token)])
            self.keep_answer(f"{path} of the agent beside", answer)

    def keep_answer(self, name: str, answer: Answer) -> None:
        lines = [f"{key}: {value}".encode() for key, value in answer.headers]
        self.outputs[name] = b"\n".join([*lines, answer.body])

    def ask(
        self, path: str, header: Header, method: str = "GET", body: dict[str, str] | None = None
    ) -> None:
        """Call an API, and keep what it says."""
        with httpx.Client(base_url=self.service.base_url, timeout=60) as program:
            answer = program.request(method, path, headers=[header], json=body)
        self.outputs[f"{method} {path}"] = answer.content

    def ask_for_everything(self) -> None:
        """What operators, scrapers and owners are told, and error pages."""
        token = self.secrets.values["token of a reset"]
        for path in ("/metrics", "/readyz", "/healthz", "/account/export", f"/l/{token}", "/none"):
            self.outputs[path.replace(token, "TOKEN")] = self.browser.get(path).content
        for page in ("/account", "/connections", "/printers", "/operator", "/operator/keys"):
            self.outputs[page] = self.browser.get(page).content
        for words in (
            *(
                "account list",
                "app list",
                "printer list",
                "connection list",
            ),
            *("acts", "limits", "webhook-keys list"),
        ):
            self.outputs[f"admin {words}"] = str(self.service.admin(*words.split())).encode()

    def keep_key_files(self, *folders: Path) -> None:
        """The private keys of both ends, line by line."""
        for folder in folders:
            for file in (folder / name for name in KEY_FILES):
                if file.is_file():
                    longest = max(re.findall(r"[\w+/=-]+", file.read_text("latin-1")), key=len)
                    self.secrets.keep(f"{file.name} in {folder.name}", longest)
