"""Limits on tries to open printers in a browser: wrong tries keep no other person out."""

from datetime import timedelta

import pytest

from printreach.relay.browser_sign_in import OPENED_BY_ADDRESS, PASSWORDS_BY_ADDRESS
from printreach.rules.connections import ConnectionKind
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import ignore
from tests.relay.test_shared_hosts import (
    BROWSER,
    OPEN,
    TAPPED_ELSEWHERE,
    ask,
    cookie_of,
    send_password,
    share,
)
from tests.relay.waiting import until

IMAGE_ELSEWHERE = (
    b"Sec-Fetch-Site: cross-site",
    b"Sec-Fetch-Mode: no-cors",
    b"Sec-Fetch-Dest: image",
)
FRAME_ELSEWHERE = (
    b"Sec-Fetch-Site: same-site",
    b"Sec-Fetch-Mode: navigate",
    b"Sec-Fetch-Dest: iframe",
)
IMAGE_ON_PLAIN_HTTP = (b"Referer: http://evil.example/",)


@on_a_loop
async def test_wrong_links_keep_nobody_of_the_same_network_from_opening_a_printer() -> None:
    async with relay() as rig:
        access, other = share(rig), share(rig, "shared-two")
        own = rig.connect("own-one", kind=ConnectionKind.OWN)
        rig.grants.add_open_ticket("own-one", "ticket", rig.clock.now() + timedelta(minutes=10))
        await rig.agent()
        for _ in range(200):
            await ask(rig, other, target=OPEN + b"?service_api_key=wrong")
            await ask(rig, own, target=OPEN + b"?ticket=wrong")

        assert (await ask(rig, own, target=OPEN + b"?ticket=ticket")).status == 303
        for one in (access, other):
            link = OPEN + b"?service_api_key=" + one.token
            assert (await ask(rig, one, target=link)).status == 303
            assert (await send_password(rig, one, one.token)).status == 303


@on_a_loop
async def test_wrong_passwords_of_one_share_are_not_counted_at_another() -> None:
    async with relay() as rig:
        access, other = share(rig), share(rig, "shared-two")
        for _ in range(PASSWORDS_BY_ADDRESS.at_once):
            await send_password(rig, other, b"wrong")
        assert b"Too many attempts" in (await send_password(rig, other, b"wrong")).body

        assert (await send_password(rig, access, access.token)).status == 303
        link = OPEN + b"?service_api_key=" + other.token
        assert (await ask(rig, other, target=link)).status == 303


@on_a_loop
async def test_a_guest_who_opens_a_share_again_and_again_is_limited_at_that_share_alone() -> None:
    async with relay() as rig:
        access, other = share(rig), share(rig, "shared-two")
        link = OPEN + b"?service_api_key=" + access.token
        for _ in range(OPENED_BY_ADDRESS.at_once):
            assert (await ask(rig, access, target=link)).status == 303
        assert b"Too many attempts" in (await ask(rig, access, BROWSER, target=link)).body

        link = OPEN + b"?service_api_key=" + other.token
        assert (await ask(rig, other, target=link)).status == 303


@pytest.mark.parametrize("says", [IMAGE_ELSEWHERE, FRAME_ELSEWHERE, IMAGE_ON_PLAIN_HTTP])
@on_a_loop
async def test_a_page_of_another_site_neither_signs_a_person_in_unnoticed_nor_uses_a_link_up(
    says: tuple[bytes, ...],
) -> None:
    async with relay() as rig:
        access = share(rig)
        own = rig.connect("own-one", kind=ConnectionKind.OWN)
        rig.grants.add_open_ticket("own-one", "ticket", rig.clock.now() + timedelta(minutes=10))
        link = OPEN + b"?service_api_key=" + access.token
        for one, target in ((access, link), (own, OPEN + b"?ticket=ticket")):
            for _ in range(OPENED_BY_ADDRESS.at_once + 1):
                answer = await ask(rig, one, *says, target=target)
                assert (answer.status, answer.all(b"set-cookie")) == (606, [])

            tapped = await ask(rig, one, *TAPPED_ELSEWHERE, target=target)
            assert (tapped.status, len(tapped.all(b"set-cookie"))) == (200, 1)


@on_a_loop
async def test_a_browser_that_opens_a_share_again_keeps_its_cookie_and_what_it_has_open() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = share(rig)
        agent = await rig.agent(script=ignore)
        link = OPEN + b"?service_api_key=" + access.token
        first = cookie_of(await ask(rig, access, target=link))
        caller.send(request(access.host, first))
        await until(lambda: agent.asked)
        planted = b"Cookie: printreach_own=planted; " + first.removeprefix(b"Cookie: ")

        again = await ask(rig, access, planted, target=link)
        assert cookie_of(again) == first
        assert b"Max-Age=604800" in (again.get(b"set-cookie") or b"")
        await rig.node._admission.load(access.unique_id)
        assert rig.figure("requests_at_printers") == 1
        assert cookie_of(await ask(rig, access, target=link)) != first


@on_a_loop
async def test_a_cookie_of_another_share_is_not_kept() -> None:
    async with relay() as rig:
        access, other = share(rig), share(rig, "shared-two")
        cookie = cookie_of(await send_password(rig, other, other.token))

        opened = await send_password(rig, access, access.token, cookie)
        assert cookie_of(opened) != cookie
