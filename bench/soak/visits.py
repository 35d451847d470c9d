"""Ordinary visits. Each succeeds, or raises Unexpected or an exception of aiohttp."""

import asyncio
import html
import json
import os
import random
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from bench.siege.attacks import image_form
from bench.soak.caller import Caller, Unexpected
from bench.soak.preparing import App, Person
from tests.detector.images import scene, written
from tests.rigs.service import PASSWORD

UPLOAD_BYTES = 1_000_000
WATCHES_S = (20.0, 40.0)
STAYS_S = (10.0, 30.0)
REFUSED_WITHIN_S = 5.0
"""After a connection was ended: the relay hears of it by a notice."""
COMMANDS = "/service-command-api"
OK, WRONG_STATE = 200, 786


class AppVisits:
    """Visits of a program that has an App Connection."""

    def __init__(self, caller: Caller, app: App) -> None:
        self._caller = caller
        self._app = app

    async def status(self) -> None:
        await self._command("GET", "/status")

    async def page(self) -> None:
        body = await self._ask("GET", "/")
        if b"<html" not in body:
            raise Unexpected(f"the printer's page began {body[:60]!r}")

    async def info(self) -> None:
        await self._api("GET", "/api/appconnection/info")
        await self._api("POST", "/api/detector/GetStatusFromAppConnection", {})

    async def transfer(self) -> None:
        """Upload a file, find it in the list, read it again, and delete it."""
        content, name = os.urandom(UPLOAD_BYTES), f"soak-{random.randrange(10**9)}.gcode"
        path = f"?path=gcode/{name}"
        await self._command("PUT", f"/files/upload{path}", body=content)
        listed = await self._command("GET", "/files/list")
        if name not in json.dumps(listed):
            raise Unexpected(f"{name} is not in the list of files")
        if await self._ask("GET", f"{COMMANDS}/files/download{path}") != content:
            raise Unexpected(f"{name} came back different")
        await self._command("POST", f"/files/delete{path}")

    async def websocket(self) -> None:
        async with (
            asyncio.timeout(60),
            self._caller.websocket("/ws", self._app.host, self._proof) as socket,
        ):
            message = await socket.receive()
            if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                raise Unexpected(f"the printer's WebSocket said {message.type.name}")

    async def snapshot(self) -> None:
        picture = await self._ask("GET", f"{COMMANDS}/webcam/snapshot")
        if not picture.startswith(b"\xff\xd8"):
            raise Unexpected(f"a picture began {picture[:20]!r}")

    async def watch(self) -> None:
        """Watch the webcam for a while; its pictures must change all the time."""
        host, seconds = self._app.host, random.uniform(*WATCHES_S)
        path, size = f"{COMMANDS}/webcam/stream", 0
        async with self._caller.opened("GET", path, host=host, headers=self._proof) as answer:
            ends_at = time.monotonic() + seconds
            while time.monotonic() < ends_at:
                async with asyncio.timeout(60):
                    piece = await answer.content.readany()
                if not piece:
                    raise Unexpected(f"the webcam stream ended behind {size} bytes")
                size += len(piece)

    async def pause_and_resume(self) -> None:
        """Pause and resume a running print, which may end in between."""
        status = await self._command("GET", "/status")
        if status["JobStatus"]["State"] != "printing":
            return
        also = (OK, WRONG_STATE)
        await self._command("POST", "/pause", also, b"{}")
        await asyncio.sleep(3)
        await self._command("POST", "/resume", also)

    async def set_webhook(self, url: str) -> None:
        body = {"WebhookUrl": url, "InclusiveEventTypesFilter": []}
        await self._api("POST", "/api/appconnection/SetNotificationWebhook", body)

    async def test_webhook(self, url: str) -> None:
        await self.set_webhook(url)
        answer = json.loads(await self._api("GET", "/api/appconnection/TestWebhook"))
        if answer["Result"]["HttpStatus"] != OK:
            raise Unexpected(f"a test of a webhook gave {answer}")

    @property
    def _proof(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._app.bearer}"}

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        async with asyncio.timeout(60):
            return await self._caller.ask(
                method, path, host=self._app.host, headers=self._proof, data=body
            )

    async def _command(
        self, method: str, path: str, statuses: tuple[int, ...] = (OK,), body: bytes | None = None
    ) -> Any:
        """Return the command's result. Raises Unexpected if the envelope has another status."""
        answer = json.loads(await self._ask(method, COMMANDS + path, body))
        if answer["Status"] not in statuses:
            raise Unexpected(f"{path} gave {answer['Status']}: {answer.get('Error')}")
        return answer.get("Result")

    async def _api(self, method: str, path: str, body: object = None) -> bytes:
        async with asyncio.timeout(60):
            headers = {"AppToken": self._app.token}
            return await self._caller.ask(method, path, headers=headers, json=body)


class PersonVisits:
    """Visits of a person with a browser and an account."""

    def __init__(self, caller: Caller, person: Person) -> None:
        self._caller = caller
        self._person = person

    async def session(self) -> None:
        """Sign in, open the list and one printer with their live parts, and sign out."""
        await self._sign_in()
        await self._caller.ask("GET", "/printers")
        await self._stay("/printers/events", random.uniform(*STAYS_S))
        printer = f"/printers/{random.choice(self._person.printers)}"
        await self._caller.ask("GET", printer)
        await self._stay(f"{printer}/events", random.uniform(*STAYS_S))
        for page in ("/activity", f"{printer}/history", "/connections", "/account"):
            await self._caller.ask("GET", page)
        await self._caller.ask("POST", "/signout", status=303)
        await self._caller.ask("GET", "/printers", status=303)

    async def listen(self) -> None:
        """Read the events of all printers."""
        await self._sign_in()
        await self._stay("/api/events", random.uniform(*STAYS_S))
        await self._caller.ask("POST", "/signout", status=303)

    async def share_and_revoke(self) -> None:
        """Share a printer, open it with the token, end the sharing, and be refused."""
        await self._sign_in()
        form = {"printer": random.choice(self._person.printers), "ends": "1"}
        async with self._caller.opened(
            "POST", "/connections/share", status=303, data=form
        ) as answer:
            shown_at = answer.headers["Location"]
        page = (await self._caller.ask("GET", shown_at)).decode()
        host = urlsplit(_shown(page, "Address")).netloc
        proof = {"Authorization": f"Bearer {_shown(page, 'Bearer token')}"}
        await self._caller.ask("GET", "/", host=host, headers=proof)
        ended = shown_at.replace("/secrets", "/end")
        await self._caller.ask("POST", ended, status=303, data={})
        await self._until_refused(host, proof)
        await self._caller.ask("POST", "/signout", status=303)

    async def _until_refused(self, host: str, proof: Mapping[str, str]) -> None:
        ends_at = time.monotonic() + REFUSED_WITHIN_S
        while True:
            try:
                await self._caller.ask("GET", "/", host=host, headers=proof, status=604)
            except Unexpected:
                if time.monotonic() > ends_at:
                    raise
                await asyncio.sleep(0.1)
            else:
                return

    async def _sign_in(self) -> None:
        form = {"email": self._person.email, "password": PASSWORD, "next": "/printers"}
        await self._caller.ask("POST", "/signin", status=303, data=form)

    async def _stay(self, path: str, seconds: float) -> None:
        """Keep a stream of events open. Raises Unexpected if it is silent or ends."""
        size, ends_at = 0, time.monotonic() + seconds
        async with self._caller.opened("GET", path) as answer:
            while time.monotonic() < ends_at:
                async with asyncio.timeout(60):
                    piece = await answer.content.readany()
                if not piece:
                    raise Unexpected(f"{path} ended behind {size} bytes")
                size += len(piece)


class DetectionVisits:
    """Visits of a program that has images of a print scored."""

    def __init__(self, caller: Caller, key: str) -> None:
        self._caller = caller
        self._key = {"X-API-Key": key}
        self._context = ""
        self._body = image_form(written(scene()))

    async def send(self) -> None:
        """Send an image; now and then begin a new print."""
        if not self._context or random.random() < 0.1:
            path = "/api/detector/v1/createcontext"
            made = json.loads(await self._caller.ask("POST", path, headers=self._key, json={}))
            self._context = urlsplit(made["ProcessRequestUrl"]).path
        kind = {"Content-Type": "multipart/form-data; boundary=x", **self._key}
        answer = await self._caller.ask("POST", self._context, headers=kind, data=self._body)
        if b"PrintQuality" not in answer:
            raise Unexpected(f"a picture was answered {answer[:200]!r}")


def _shown(page: str, label: str) -> str:
    """Return a value that a page shows once. Raises Unexpected."""
    found = re.search(rf'data-label="{label}">([^<]+)<', page)
    if found is None:
        raise Unexpected(f"the page shows no {label}")
    return html.unescape(found[1])
