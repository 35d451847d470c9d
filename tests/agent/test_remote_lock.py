"""The lock of remote control, as the service tells it at sign-in and later."""

from pathlib import Path

import pytest

from printreach.agent.remote_lock import RemoteLock
from printreach.contract import signin
from printreach.contract.permissions import Permission
from tests.agent.contexts import Agent, ServiceKey
from tests.agent.talks import OFFER, Talk

LOCKED = signin.RemoteControl(is_locked=True)
UNLOCKED = signin.RemoteControl(is_locked=False)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


@pytest.fixture
def key() -> ServiceKey:
    return ServiceKey()


def signed_in(agent: Agent, key: ServiceKey, *before: signin.FromService) -> Talk:
    """before: what the service says before its welcome."""
    talk = Talk(agent)
    talk.says(talk.challenge(key), *before, talk.welcome())
    return talk


def facts(agent: Agent) -> tuple[bool, bool]:
    lock = agent.context.remote_lock
    return lock.is_locked, lock.is_service_lost


def test_a_lock_holds_from_the_moment_it_is_told_until_it_is_told_otherwise(
    agent: Agent, key: ServiceKey
) -> None:
    talk = signed_in(agent, key, UNLOCKED)
    assert facts(agent) == (False, False)
    talk.says(LOCKED)
    assert facts(agent) == (True, False)
    talk.says(UNLOCKED)

    assert facts(agent) == (False, False)


def test_an_agent_that_comes_back_hears_of_a_lock_before_it_carries_on(
    agent: Agent, key: ServiceKey
) -> None:
    changes = []
    agent.context.remote_lock.observe(lambda: changes.append(facts(agent)))
    signed_in(agent, key, UNLOCKED).handshake.end()
    signed_in(agent, key, LOCKED)

    assert changes == [(False, True), (True, False)]


def test_a_lock_outlives_the_tunnel(agent: Agent, key: ServiceKey) -> None:
    signed_in(agent, key, LOCKED).handshake.end()
    assert facts(agent) == (True, True)
    signed_in(agent, key, UNLOCKED)

    assert facts(agent) == (False, False)


def test_a_service_that_tells_of_no_locks_leaves_none_behind(agent: Agent, key: ServiceKey) -> None:
    signed_in(agent, key, LOCKED).handshake.end()
    signed_in(agent, key)

    assert facts(agent) == (False, False)


def test_what_a_tunnel_says_that_is_being_left_counts_no_more(
    agent: Agent, key: ServiceKey
) -> None:
    old = signed_in(agent, key, UNLOCKED)
    old.handshake.end()
    signed_in(agent, key, LOCKED)
    old.says(UNLOCKED)
    old.handshake.end()

    assert facts(agent) == (True, False)


def test_a_printer_that_was_removed_is_controlled_by_nobody_until_it_is_linked(
    agent: Agent, key: ServiceKey
) -> None:
    signed_in(agent, key, UNLOCKED).handshake.end()
    talk = Talk(agent)
    talk.says(talk.challenge(key), OFFER)
    assert facts(agent) == (True, False)
    talk.says(UNLOCKED, talk.linked())

    assert facts(agent) == (False, False)


def test_a_lock_that_was_told_binds_whatever_the_request_was_stamped_with() -> None:
    lock = RemoteLock()
    lock.set_locked(is_locked=True)

    assert lock.access(None).is_locked
    assert lock.access(b"control").is_locked
    assert lock.access(b"control").permissions == {Permission.CONTROL}
    assert not lock.access(b"control,despite-lock").is_locked
    lock.set_locked(is_locked=False)
    assert not lock.access(None).is_locked
    assert lock.access(b"control,locked").is_locked
