"""Admission to a printer: the order of refusals, and all places of credentials."""

import base64
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.contract.errors import BUSY
from printreach.rules.connections import ConnectionKind, LostPrinter
from tests.relay.caller import Answer, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, Access, Rig, relay
from tests.relay.scripted_agent import answer_when_complete

HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")
WRONG = b"Authorization: Bearer wrong"


async def ask(rig: Rig, access: Access, *fields: bytes, **line: bytes) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, *fields, **line))
        return await caller.answer(to_head=line.get("method") == b"HEAD")


# --- the order ------------------------------------------------------------------------------------


@pytest.mark.provokes(601, 603, 604, 605, 606)
@on_a_loop
async def test_refusals_come_in_their_order() -> None:
    """Each request has every fault that comes later, too."""
    async with relay() as rig:
        ended = rig.connect("app-ended", supporter=False)
        rig.grants.end("app-ended")
        unsupported = rig.connect("app-unsupported", supporter=False)
        offline = rig.connect("app-offline")
        unknown = Access("app-unknown", b"x")

        assert (await ask(rig, unknown, WRONG)).status == 603
        assert (await ask(rig, ended, WRONG)).status == 606
        assert (await ask(rig, ended)).status == 606
        assert (await ask(rig, ended, ended.bearer)).status == 604
        assert (await ask(rig, unsupported, unsupported.bearer)).status == 605
        assert (await ask(rig, offline, offline.bearer)).status == 601


@pytest.mark.provokes(601, 606)
@on_a_loop
async def test_only_who_is_admitted_is_told_which_printer_is_not_connected() -> None:
    async with relay() as rig:
        access = rig.connect()
        grant = await rig.grants.grant(access.unique_id)
        assert grant is not None
        rig.grants.put(replace(grant, lost=LostPrinter(name="Workbench")))
        page = b"Accept: text/html"

        refused = await ask(rig, access, WRONG, page)
        lost = await ask(rig, access, access.bearer, page)
        assert (refused.status, lost.status) == (606, 601)
        assert b"Workbench" not in refused.body
        assert "Workbench isn\N{RIGHT SINGLE QUOTATION MARK}t connected" in lost.body.decode()


@on_a_loop
async def test_a_connection_that_expires_is_604_from_its_last_instant_on() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        grant = await rig.grants.grant(access.unique_id)
        assert grant is not None
        rig.grants.put(replace(grant, expires_at=rig.clock.now() + timedelta(seconds=1)))
        assert (await ask(rig, access, access.bearer)).status == 200
        rig.clock.advance(timedelta(seconds=1))

        assert (await ask(rig, access, access.bearer)).status == 604


@pytest.mark.parametrize("accept", [b"*/*", b"application/json", b"text/html"])
@on_a_loop
async def test_every_refusal_carries_its_code_and_is_never_stored(accept: bytes) -> None:
    async with relay() as rig:
        answer = await ask(rig, Access("app-unknown", b""), b"Accept: " + accept)

        assert answer.all(b"x-service-error") == [b"603"]
        assert answer.all(b"cache-control") == [b"no-store"]
        assert b"603" in answer.body


@on_a_loop
async def test_a_person_who_is_refused_is_shown_the_way_to_their_printers() -> None:
    async with relay() as rig:
        answer = await ask(rig, Access("app-unknown", b""), b"Accept: text/html")

        assert b'href="http://' + OWN + b'/printers">Go to my printers</a>' in answer.body


@on_a_loop
async def test_a_refused_handshake_carries_its_code_as_json_even_to_a_browser() -> None:
    async with relay() as rig:
        answer = await ask(rig, Access("app-unknown", b""), *HANDSHAKE, b"Accept: text/html")

        assert json.loads(answer.body)["Status"] == 603


@on_a_loop
async def test_head_is_refused_without_a_body() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        unknown = Access("app-unknown", b"")
        caller.send(request(unknown.host, method=b"HEAD") * 2)

        assert [(await caller.answer(to_head=True)).status for _ in range(2)] == [603, 603]


@pytest.mark.provokes(600)
@on_a_loop
async def test_a_store_that_is_away_is_600_and_no_printers_fault() -> None:
    async with relay() as rig:
        access = rig.connect()
        rig.grants.is_broken = True
        answer = await ask(rig, access, access.bearer)
        assert answer.status == 600
        assert json.loads(answer.body)["Error"] == BUSY
        assert answer.get(b"retry-after") == b"10"
        rig.grants.is_broken = False

        assert (await ask(rig, access, access.bearer)).status == 601


@on_a_loop
async def test_an_upload_that_waits_for_the_store_arrives_whole() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=answer_when_complete)
        rig.grants.hold()
        body = b"x" * 500_000
        caller.send(request(access.host, access.bearer, method=b"POST", body=body))
        rig.grants.release()

        assert (await caller.answer()).status == 200
        assert agent.asked[0].body == body


# --- credentials ----------------------------------------------------------------------------------


def basic(pair: bytes) -> bytes:
    return base64.b64encode(pair)


@pytest.mark.parametrize(
    "line",
    [
        b"Authorization: Bearer token-of-app-one",
        b"authorization: bearer token-of-app-one",
        b"Authorization: BEARER  token-of-app-one",
        b"Authorization: Basic " + basic(b"user:token-of-app-one"),
        b"Authorization: Basic " + basic(b"user:token-of-app-one").rstrip(b"="),
    ],
)
@on_a_loop
async def test_basic_and_bearer_open_and_never_reach_the_printer(line: bytes) -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()

        assert (await ask(rig, access, line)).status == 200
        assert agent.asked[0].all(b"authorization") == []


@pytest.mark.parametrize(
    "line",
    [
        b"Authorization: token-of-app-one",
        b"Authorization: Bearer",
        b"Authorization: Bearer token-of-app-one x",
        b"Authorization: Bearer token-of-app-two",
        b"Authorization: Basic token-of-app-one",
        b"Authorization: Basic " + basic(b"token-of-app-one"),
        b"Authorization: Bearer " + basic(b"user:token-of-app-one"),
        b"Authorization: Digest token-of-app-one",
        b"Proxy-Authorization: Bearer token-of-app-one",
        b"X-Api-Key: token-of-app-one",
        b"Cookie: printreach_own=token-of-app-one",
        b"Cookie: service_api_key=token-of-app-one",
    ],
)
@on_a_loop
async def test_nothing_else_opens(line: bytes) -> None:
    async with relay() as rig:
        access = rig.connect()
        rig.connect("app-two")

        assert (await ask(rig, access, line)).status == 606


KEYS = {
    "the token": b"token-of-app-one",
    "the token, escaped": b"%74oken%2Dof-app-one",
    "the pair": basic(b"user:token-of-app-one"),
    "the pair, escaped": basic(b"user:token-of-app-one").replace(b"=", b"%3D"),
    "the pair without padding": basic(b"user:token-of-app-one").rstrip(b"="),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    ("target", "arrives"),
    [
        (b"/?service_api_key=%b", b"/"),
        (b"/a?service_api_key=%b&b=c", b"/a?b=c"),
        (b"/a?b=%%26&&service_api_key=%b&c", b"/a?b=%26&&c"),
        (b"/a?b&service_api_key=%b&service_api_key=other", b"/a?b"),
    ],
)
@on_a_loop
async def test_a_key_in_the_query_opens_and_is_taken_out(
    key: bytes, target: bytes, arrives: bytes
) -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()

        assert (await ask(rig, access, target=target % key)).status == 200
        assert agent.asked[0].target == arrives


@pytest.mark.parametrize(
    "target",
    [
        b"/service_api_key=token-of-app-one",
        b"/?SERVICE_API_KEY=token-of-app-one",
        b"/?service_api_key",
        b"/?service_api_key=",
        b"/?xservice_api_key=token-of-app-one",
        b"/?x=?service_api_key=token-of-app-one",
        b"/?service_api_key=wrong&service_api_key=token-of-app-one",
    ],
)
@on_a_loop
async def test_a_key_that_stands_elsewhere_does_not_open(target: bytes) -> None:
    async with relay() as rig:
        assert (await ask(rig, rig.connect(), target=target)).status == 606


@pytest.mark.parametrize(
    "target", [b"/files/service_api_key=x", b"/a?b=service_api_key=x", b"/?", b"/?&", b"/a??b=?"]
)
@on_a_loop
async def test_a_target_without_our_key_arrives_byte_for_byte(target: bytes) -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        await ask(rig, access, access.bearer, target=target)

        assert agent.asked[0].target == target


@on_a_loop
async def test_a_handshake_may_carry_its_key_in_the_query() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        target = b"/ws?service_api_key=" + access.token

        assert (await ask(rig, access, *HANDSHAKE, target=target)).status == 200
        assert agent.asked[0].target == b"/ws"


@on_a_loop
async def test_beside_a_key_in_the_query_the_printers_own_authorization_passes() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        own = b"Basic " + basic(b"printer:password")
        target = b"/?service_api_key=" + access.token
        await ask(rig, access, b"Authorization: " + own, target=target)

        assert agent.asked[0].all(b"authorization") == [own]


@on_a_loop
async def test_ours_is_taken_off_although_the_key_in_the_query_would_do() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        await ask(rig, access, access.bearer, target=b"/?service_api_key=" + access.token)

        assert agent.asked[0].all(b"authorization") == []


@pytest.mark.parametrize("ours_first", [True, False])
@on_a_loop
async def test_of_two_authorization_lines_ours_is_taken_off_wherever_it_stands(
    ours_first: bool,
) -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        lines = [access.bearer, b"Authorization: Digest of-the-printer"]
        answer = await ask(rig, access, *(lines if ours_first else reversed(lines)))

        assert answer.status == 200
        assert agent.asked[0].all(b"authorization") == [b"Digest of-the-printer"]


@on_a_loop
async def test_a_referer_does_not_tell_the_printer_the_key() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        page = b"http://%b/page?service_api_key=%b" % (access.host, access.token)
        await ask(rig, access, access.bearer, b"Referer: " + page + b"&b=c")
        await ask(rig, access, access.bearer, b"Referer: http://elsewhere/?a=b")

        arrived = [asked.all(b"referer") for asked in agent.asked]
        assert arrived == [[b"http://%b/page?b=c" % access.host], [b"http://elsewhere/?a=b"]]


@on_a_loop
async def test_the_printers_own_api_key_passes() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        await ask(rig, access, access.bearer, b"X-Api-Key: of-the-printer")

        assert agent.asked[0].all(b"x-api-key") == [b"of-the-printer"]


@on_a_loop
async def test_the_credentials_of_one_connection_open_no_other() -> None:
    async with relay() as rig:
        one, two = rig.connect("app-one"), rig.connect("app-two")

        assert (await ask(rig, one, two.bearer)).status == 606
        assert (await ask(rig, two, one.bearer)).status == 606


@on_a_loop
async def test_a_shared_connection_opens_as_an_app_connection_does() -> None:
    async with relay() as rig:
        access = rig.connect("shared-one", kind=ConnectionKind.SHARED)
        await rig.agent()

        assert (await ask(rig, access, access.bearer)).status == 200
        assert (await ask(rig, access)).status == 606


# --- what a caller says of itself -----------------------------------------------------------------


@on_a_loop
async def test_a_callers_fields_about_addresses_and_hops_never_reach_the_printer() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        said = [
            b"Forwarded: for=1.2.3.4",
            b"X-Forwarded-For: 1.2.3.4",
            b"x-forwarded-anything: x",
            b"X-Real-IP: 1.2.3.4",
            b"X_Forwarded_For: 1.2.3.4",
            b"X_FORWARDED-Host: evil.example",
            b"X_Real-IP: 1.2.3.4",
            b"Keep-Alive: timeout=5",
            b"TE: trailers",
            b"Proxy-Authorization: Basic x",
            b"Proxy-Connection: keep-alive",
            b"Connection: keep-alive",
            b"Connection: X-Named, close",
            b"X-Named: x",
            b"Upgrade: websocket",
            b"X-Kept: yes",
            b"X_Kept: too",
        ]
        await ask(rig, access, access.bearer, *said)

        kept = [(b"X-Kept", b"yes"), (b"X_Kept", b"too")]
        assert agent.asked[0].head.headers == [(b"Host", access.host), *kept]


@on_a_loop
async def test_of_cookies_ours_stay_here_and_the_printers_travel_on() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        sent = b"Cookie: a=1; printreach_own=x; __Host-printreach_own=y; PRINTREACH_s=z; b=2"
        await ask(rig, access, access.bearer, sent, b"Cookie: printreach_own=x", b"Cookie: c=3")

        assert agent.asked[0].all(b"cookie") == [b"a=1; b=2", b"c=3"]
