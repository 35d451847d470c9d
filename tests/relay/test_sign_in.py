"""An agent's proof of its key, and refusals of agents without one."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from printreach.contract import signin
from printreach.relay import agent_connection
from printreach.rules.printers.signin import Signer
from printreach.wire.errors import CloseCode
from tests.fakes.skipping_loop import on_a_skipping_loop, skip
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import SERVICE_KEY, relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.unlinked_agents import challenged, dialled, refused, unlinked
from tests.relay.waiting import until


@on_a_loop
async def test_a_linked_agent_is_welcomed_and_serves() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        caller.send(request(access.host, access.bearer))

        assert (await caller.answer()).status == 200
        assert await agent.hear(signin.Welcome) == signin.Welcome(
            printer_id=agent.printer_id, printer_name="Workshop"
        )


@on_a_loop
async def test_the_service_shows_its_key_and_proves_that_it_has_it() -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        await agent.prove()  # checks the signature

        challenge = await agent.hear(signin.Challenge)
        assert challenge.service_key == SERVICE_KEY.public_key().public_bytes_raw()
        assert challenge.time_unix_sec == int(rig.clock.now().timestamp())


@on_a_loop
async def test_nothing_is_looked_up_or_written_for_an_agent_that_proves_nothing() -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        agent.say(agent.hello())
        await agent.hear(signin.Challenge)
        rig.agents.is_broken = True
        agent.say(signin.Proof(signature=b"x" * 64))

        assert await refused(agent) == "the signature is not this key's"


@pytest.mark.parametrize("size", [0, 63, 64, 65])
@on_a_loop
async def test_a_wrong_signature_is_refused(size: int) -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        await challenged(rig, agent)
        agent.say(signin.Proof(signature=b"s" * size))

        assert "signature" in await refused(agent)
        assert rig.figure("printers_online") == 0


@on_a_loop
async def test_the_signature_of_another_key_is_refused() -> None:
    async with relay() as rig:
        thief = await dialled(rig)
        challenge = await challenged(rig, thief)
        own_key = Ed25519PrivateKey.generate()
        thief.say(signin.Proof(signature=own_key.sign(thief.said_by(Signer.AGENT, challenge))))

        assert "signature" in await refused(thief)


@on_a_loop
async def test_a_proof_of_another_sign_in_is_refused() -> None:
    async with relay() as rig:
        seen = await dialled(rig)
        old = seen.proof_for(await challenged(rig, seen))
        thief = await dialled(rig)
        await challenged(rig, thief)
        thief.say(old)

        assert "signature" in await refused(thief)


@on_a_loop
async def test_the_services_own_signature_is_no_proof() -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        challenge = await challenged(rig, agent)
        agent.say(signin.Proof(signature=challenge.signature))

        assert "signature" in await refused(agent)


@on_a_loop
async def test_knowing_a_printers_id_or_its_public_key_grants_nothing() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        thief = await dialled(rig)
        challenge = await challenged(rig, thief)  # with the agent's public key
        other = ScriptedAgent("thief")
        thief.say(signin.Proof(signature=other.key.sign(thief.said_by(Signer.AGENT, challenge))))
        await refused(thief)
        caller.send(request(access.host, access.bearer))

        assert (await caller.answer()).status == 200
        assert agent.closed is None


PROOF = signin.encode(signin.Proof(signature=b"x" * 64))
OUT_OF_PLACE = {
    "a proof before all else": PROOF,
    "an address before all else": signin.encode(signin.LanAddress(lan_ip="192.168.1.2")),
    "nothing": b"",
    "no JSON": b"\xff\xfe",
    "half of it": b'{"Type":"Hello"',
    "a list": b"[]",
    "no type": b"{}",
    "an unknown type": b'{"Type":"Howdy"}',
    "a word of the service": b'{"Type":"Welcome","PrinterId":"x","PrinterName":"y"}',
    "a field missing": b'{"Type":"Hello","PublicKey":"","Nonce":"","ServiceHost":""}',
    "a field of another kind": b'{"Type":"Proof","Signature":5}',
    "base64 that is none": b'{"Type":"Proof","Signature":"!"}',
    "JSON nested deep": b"[" * 15_000,
}


@pytest.mark.parametrize("word", OUT_OF_PLACE.values(), ids=OUT_OF_PLACE)
@on_a_loop
async def test_a_message_out_of_order_is_refused(word: bytes) -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        agent.tunnel.message(word)

        assert await refused(agent)
        await until(lambda: rig.figure("agents") == 0)


@pytest.mark.parametrize(("key", "nonce"), [(31, 32), (33, 32), (0, 32), (32, 31), (32, 10_000)])
@on_a_loop
async def test_keys_and_nonces_of_another_size_are_refused(key: int, nonce: int) -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        word = json.loads(signin.encode(agent.hello()))
        word["PublicKey"] = base64.b64encode(b"k" * key).decode()
        word["Nonce"] = base64.b64encode(b"n" * nonce).decode()
        agent.tunnel.message(json.dumps(word).encode())

        assert await refused(agent) == "a key and a nonce have 32 bytes each"


@pytest.mark.parametrize(
    "host", ["", "relay.example\n", "relay example", "\x00", "é", "another.example"]
)
@on_a_loop
async def test_a_service_host_that_is_none_or_not_ours_is_refused(host: str) -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        word = json.loads(signin.encode(agent.hello()))
        word["ServiceHost"] = host
        agent.tunnel.message(json.dumps(word).encode())

        assert "host" in await refused(agent)


@on_a_loop
async def test_a_public_key_that_is_no_point_is_refused() -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        word = json.loads(signin.encode(agent.hello()))
        word["PublicKey"] = base64.b64encode(b"\xff" * 32).decode()
        agent.tunnel.message(json.dumps(word).encode())
        await agent.hear(signin.Challenge)
        agent.tunnel.message(PROOF)

        assert "signature" in await refused(agent)


@on_a_loop
async def test_a_second_hello_is_refused() -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        await challenged(rig, agent)
        agent.say(agent.hello())

        assert await refused(agent) == "Proof was due"


@pytest.mark.parametrize("linked", [True, False])
@on_a_loop
async def test_after_sign_in_only_an_address_is_accepted(linked: bool) -> None:
    async with relay() as rig:
        agent = await rig.agent() if linked else await unlinked(rig)
        agent.say(agent.hello())

        assert "sign-in is over" in await refused(agent)


@on_a_loop
async def test_a_flood_of_messages_is_refused() -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        for _ in range(100):
            agent.tunnel.message(PROOF)

        assert await refused(agent)


@pytest.mark.parametrize("last_word", ["none", "hello"])
@on_a_skipping_loop
async def test_an_agent_that_falls_silent_is_sent_away(last_word: str) -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        if last_word == "hello":
            await challenged(rig, agent)
        skip(agent_connection.SIGN_IN_TIMEOUT_S)

        assert "10 s" in await refused(agent)
        await until(lambda: rig.figure("agents") == 0)


@on_a_loop
async def test_a_store_that_is_away_is_no_refusal() -> None:
    async with relay() as rig:
        agent = await dialled(rig)
        rig.agents.is_broken = True
        await agent.prove()
        await until(lambda: agent.closed)

        assert agent.closed is not None
        assert agent.closed[0] == CloseCode.OVERLOADED
