"""A guest opens a shared printer in a browser: by the link, or by user name and password."""

from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import quote

import pytest

from printreach.relay.browser_sign_in import (
    FORM_TIMEOUT_S,
    MAX_FORM_BYTES,
    PASSWORDS_BY_ADDRESS,
    PASSWORDS_BY_SHARE,
)
from printreach.rules.connections import ConnectionKind
from tests.relay.caller import Answer, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access, Rig, relay
from tests.relay.scripted_agent import ignore
from tests.relay.waiting import until
from tests.rigs.waiting import free_port

OPEN = b"/service-command-api/open"
BROWSER = b"Accept: text/html,*/*"
TAPPED_ELSEWHERE = (
    b"Sec-Fetch-Site: cross-site",
    b"Sec-Fetch-Mode: navigate",
    b"Sec-Fetch-Dest: document",
)
WRONG_PASSWORD = b"The user name or password is wrong."


def share(rig: Rig, unique_id: str = "shared-one") -> Access:
    return rig.connect(unique_id, kind=ConnectionKind.SHARED)


async def ask(rig: Rig, access: Access, *fields: bytes, body: bytes = b"", **line: bytes) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, *fields, body=body, **line))
        return await caller.answer(to_head=line.get("method") == b"HEAD")


async def send_password(
    rig: Rig, access: Access, password: bytes, *fields: bytes, origin: bytes | None = None
) -> Answer:
    body = b"user=user&password=" + quote(password).encode()
    sent = b"Origin: " + (b"http://" + access.host if origin is None else origin)
    form = b"Content-Type: application/x-www-form-urlencoded"
    fields = (BROWSER, sent, form, *fields)
    return await ask(rig, access, *fields, method=b"POST", target=OPEN, body=body)


def cookie_of(answer: Answer) -> bytes:
    return b"Cookie: " + (answer.get(b"set-cookie") or b"").partition(b";")[0]


@pytest.mark.parametrize("target", [b"/", b"/any?x=1", OPEN])
@on_a_loop
async def test_a_browser_is_asked_for_the_password_and_a_program_gets_606(target: bytes) -> None:
    async with relay() as rig:
        access, agent = share(rig), await rig.agent()

        page = await ask(rig, access, BROWSER, target=target)
        assert page.status == 606
        assert b'<form method="post" action="/service-command-api/open">' in page.body
        assert b"form-action 'self'" in (page.get(b"content-security-policy") or b"")
        assert b" app" not in page.body
        program = await ask(rig, access, b"Accept: */*", target=target)
        assert (program.status, program.get(b"content-type")) == (606, b"application/json")
        assert agent.asked == []


@on_a_loop
async def test_the_password_signs_a_browser_in_by_a_cookie_that_no_printer_sees() -> None:
    async with relay() as rig:
        access, agent = share(rig), await rig.agent()
        opened = await send_password(rig, access, access.token)
        assert (opened.status, opened.get(b"location")) == (303, b"/")
        assert b"; HttpOnly; SameSite=Lax" in (opened.get(b"set-cookie") or b"")

        answer = await ask(rig, access, cookie_of(opened), BROWSER)
        assert (answer.status, agent.asked[0].all(b"cookie")) == (200, [])


@on_a_loop
async def test_the_link_signs_a_browser_in_and_leaves_the_address_bar() -> None:
    async with relay() as rig:
        access, agent = share(rig), await rig.agent()
        opened = await ask(rig, access, BROWSER, target=OPEN + b"?service_api_key=" + access.token)
        assert (opened.status, opened.get(b"location")) == (303, b"/")
        assert opened.get(b"referrer-policy") == b"no-referrer"

        assert (await ask(rig, access, cookie_of(opened))).status == 200
        assert access.token not in agent.asked[0].opened.head


@on_a_loop
async def test_a_link_that_a_person_taps_elsewhere_does_not_tell_the_printer_its_secret() -> None:
    async with relay() as rig:
        access, agent = share(rig), await rig.agent()
        target = OPEN + b"?service_api_key=" + access.token
        opened = await ask(rig, access, BROWSER, *TAPPED_ELSEWHERE, target=target)
        assert opened.status == 200
        assert opened.get(b"referrer-policy") == b"strict-origin"

        referer = b"Referer: http://" + access.host + target
        await ask(rig, access, cookie_of(opened), referer)
        assert access.token not in agent.asked[0].opened.head


@on_a_loop
async def test_the_credentials_of_programs_open_a_shared_printer_as_before() -> None:
    async with relay() as rig:
        access = share(rig)
        await rig.agent()

        assert (await ask(rig, access, access.bearer, method=b"POST")).status == 200
        key = b"/x?service_api_key=" + access.token
        assert (await ask(rig, access, target=key)).body == b"GET /x"


@on_a_loop
async def test_a_guests_cookie_opens_no_other_share() -> None:
    async with relay() as rig:
        access, other = share(rig), share(rig, "shared-two")
        await rig.agent()
        cookie = cookie_of(await send_password(rig, access, access.token))

        assert (await ask(rig, other, cookie)).status == 606


@on_a_loop
async def test_a_wrong_password_or_link_is_said_and_sets_no_cookie() -> None:
    async with relay() as rig:
        access = share(rig)
        wrong = await send_password(rig, access, b"<wrong>")
        assert (wrong.status, wrong.all(b"set-cookie")) == (606, [])
        assert WRONG_PASSWORD in wrong.body

        link = await ask(rig, access, BROWSER, target=OPEN + b"?service_api_key=wrong")
        assert (link.status, link.all(b"set-cookie")) == (606, [])
        assert b"This link is wrong or has expired." in link.body


FORMS: Sequence[bytes] = [
    b"",
    b"user=user",
    b"&" * 100,
    b"user=\xff&password=\xff",
    b"user=user&password=" + b"x" * (MAX_FORM_BYTES + 1),
]


@pytest.mark.parametrize("body", FORMS)
@on_a_loop
async def test_a_form_that_makes_no_sense_signs_nobody_in(body: bytes) -> None:
    async with relay() as rig:
        access = share(rig)
        fields = (BROWSER, b"Origin: http://" + access.host)
        answer = await ask(rig, access, *fields, method=b"POST", target=OPEN, body=body)

        assert (answer.status, answer.all(b"set-cookie")) == (606, [])
        assert b"<form" in answer.body


@on_a_loop
async def test_a_form_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert FORM_TIMEOUT_S == 30
    monkeypatch.setattr("printreach.relay.browser_sign_in.FORM_TIMEOUT_S", 0.05)
    async with relay() as rig, calling(rig.port) as caller:
        access = share(rig)
        fields = (b"Origin: http://" + access.host, b"Content-Length: 20")
        caller.send(request(access.host, *fields, method=b"POST", target=OPEN))
        caller.send(b"user=")

        assert (await caller.answer()).status == 606


@pytest.mark.parametrize("origin", [b"http://shared-two.tunnel.example", b"null", b""])
@on_a_loop
async def test_a_form_of_another_site_signs_nobody_in(origin: bytes) -> None:
    async with relay() as rig:
        access = share(rig)
        answer = await send_password(rig, access, access.token, origin=origin)

        assert (answer.status, answer.all(b"set-cookie")) == (606, [])


@pytest.mark.parametrize("fields", [(), (b"Connection: Upgrade", b"Upgrade: websocket")])
@on_a_loop
async def test_a_guests_request_that_changes_something_needs_the_hosts_own_origin(
    fields: tuple[bytes, ...],
) -> None:
    async with relay() as rig:
        access, agent = share(rig), await rig.agent()
        cookie = cookie_of(await send_password(rig, access, access.token))
        method = b"GET" if fields else b"POST"
        for origin in (b"http://shared-two.tunnel.example", b"null"):
            sent = (cookie, b"Origin: " + origin, *fields)
            assert (await ask(rig, access, *sent, method=method)).status == 606
        assert agent.asked == []

        sent = (cookie, b"Origin: http://" + access.host, *fields)
        assert (await ask(rig, access, *sent, method=method)).status == 200


@on_a_loop
async def test_a_cookie_beside_right_credentials_changes_nothing_for_programs() -> None:
    async with relay() as rig:
        access = share(rig)
        await rig.agent()
        cookie = cookie_of(await send_password(rig, access, access.token))

        assert (await ask(rig, access, access.bearer, cookie, method=b"POST")).status == 200


@on_a_loop
async def test_the_end_of_a_share_ends_the_cookie_and_what_it_has_open() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = share(rig)
        agent = await rig.agent(script=ignore)
        cookie = cookie_of(await send_password(rig, access, access.token))
        caller.send(request(access.host, cookie))
        await until(lambda: agent.asked)

        await rig.revoke(access)

        await until(lambda: rig.figure("requests_at_printers") == 0)
        page = await ask(rig, access, cookie, BROWSER)
        assert page.status == 604
        assert b"This printer is no longer shared" in page.body
        assert (await send_password(rig, access, access.token)).status == 604


@on_a_loop
async def test_a_guests_cookie_lasts_seven_days() -> None:
    async with relay() as rig:
        access = share(rig)
        await rig.agent()
        opened = await send_password(rig, access, access.token)
        assert b"Max-Age=604800" in (opened.get(b"set-cookie") or b"")
        rig.clock.advance(timedelta(days=7))
        await rig.revoke(share(rig, "shared-two"))  # any notice drops what was known
        rig.node._admission.forget(access.unique_id)

        assert (await ask(rig, access, cookie_of(opened))).status == 606


@on_a_loop
async def test_wrong_passwords_of_one_network_are_limited_and_say_how_long() -> None:
    async with relay() as rig:
        access = share(rig)
        for _ in range(PASSWORDS_BY_ADDRESS.at_once):
            assert WRONG_PASSWORD in (await send_password(rig, access, b"wrong")).body

        held = await send_password(rig, access, access.token)
        assert (held.status, held.all(b"set-cookie")) == (606, [])
        assert b"Too many attempts. Try again in 20 s." in held.body
        assert held.get(b"retry-after") == b"20"


@on_a_loop
async def test_tries_of_a_shares_passwords_lock_out_neither_links_nor_cookies_nor_apps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = PASSWORDS_BY_SHARE.at_once
    numbers = iter(range(1, 200))
    monkeypatch.setattr(
        "printreach.relay.browser_sign_in.BrowserSignIn._address",
        lambda *_: f"192.0.2.{next(numbers)}",
    )
    async with relay() as rig:
        access, other = share(rig), share(rig, "shared-two")
        await rig.agent()
        cookie = cookie_of(await send_password(rig, access, access.token))
        for _ in range(many - 1):
            await send_password(rig, access, b"wrong")
        assert b"Too many attempts" in (await send_password(rig, access, b"wrong")).body

        link = OPEN + b"?service_api_key=" + access.token
        assert (await ask(rig, access, target=link)).status == 303
        assert (await ask(rig, access, cookie)).status == 200
        assert (await ask(rig, access, access.bearer)).status == 200
        assert (await send_password(rig, other, other.token)).status == 303


@on_a_loop
async def test_at_a_port_a_guest_signs_in_by_a_cookie_of_that_port() -> None:
    async with relay() as rig:
        port = free_port()
        await rig.node.listen_for_tunnels("127.0.0.1", range(port, port + 1))
        access = rig.connect("shared-one", kind=ConnectionKind.SHARED, port=port)
        await rig.agent()
        async with calling(port) as caller:
            target = OPEN + b"?service_api_key=" + access.token
            caller.send(request(b"nas.local:18000", BROWSER, target=target))
            cookie = cookie_of(await caller.answer())
            assert cookie.startswith(b"Cookie: printreach_own_%d=" % port)

            page = b"Referer: http://nas.local:18000/"
            caller.send(request(b"nas.local:18000", cookie, page))
            assert (await caller.answer()).status == 200
            caller.send(request(b"nas.local:18000", cookie))
            assert (await caller.answer()).status == 606
