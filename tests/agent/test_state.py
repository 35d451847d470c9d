"""The state of a running agent."""

from collections.abc import Callable

import pytest

from printreach.agent.state import AgentState, Phase, ShownLinkCode, Snapshot, phase_sentence
from tests.agent.snapshots import HandClock, a_link_code, a_snapshot, a_state


def test_an_observer_sees_the_state_at_once_and_after_each_change() -> None:
    state = a_state()
    seen: list[Snapshot] = []

    state.observe(seen.append)
    state.connecting()
    state.connected()

    assert [snapshot.phase for snapshot in seen] == [
        Phase.STARTING,
        Phase.CONNECTING,
        Phase.CONNECTED,
    ]
    assert state.snapshot == seen[-1]


def test_a_change_that_changes_nothing_is_not_told() -> None:
    state = a_state()
    seen: list[Snapshot] = []
    state.observe(seen.append)

    state.on_lan("192.168.1.5", "192.168.1.5:8765")
    state.on_lan("192.168.1.5", "192.168.1.5:8765")

    assert len(seen) == 2


def test_a_phase_is_dated_from_when_it_began() -> None:
    clock = HandClock(at=100.0)
    state = a_state(clock)

    clock.at = 130.0
    state.connected()
    clock.at = 160.0
    state.connected()
    state.on_lan("192.168.1.5", None)

    assert state.snapshot.phase_since == 130.0


def test_an_unlinked_agent_shows_its_code_until_it_is_linked() -> None:
    state = a_state()

    state.unlinked(a_link_code())
    unlinked = state.snapshot
    state.linked("Voron")
    linked = state.snapshot

    assert unlinked.phase is Phase.UNLINKED
    assert unlinked.link_code == a_link_code()
    assert linked.link_code is None
    assert linked.is_linked
    assert linked.printer_name == "Voron"


def test_an_agent_whose_printer_was_removed_forgets_the_printers_name() -> None:
    state = a_state(is_linked=True, printer_name="Voron")

    state.unlinked(a_link_code())

    assert not state.snapshot.is_linked
    assert state.snapshot.printer_name == ""


def test_a_link_code_is_not_shown_once_it_has_expired() -> None:
    snapshot = a_snapshot(link_code=a_link_code(expires_at=700.0))

    assert snapshot.live_link_code(699.9) == a_link_code()
    assert snapshot.live_link_code(700.0) is None


@pytest.mark.parametrize(
    "leave",
    [
        lambda state: state.disconnected("No answer.", retry_at=105.0),
        lambda state: state.refused("Removed.", retry_at=160.0),
        lambda state: state.stopping(),
        lambda state: state.connected(),
    ],
)
def test_a_link_code_does_not_outlive_the_connection_it_came_by(
    leave: Callable[[AgentState], None],
) -> None:
    state = a_state()
    state.unlinked(a_link_code())

    leave(state)

    assert state.snapshot.link_code is None


def test_an_error_is_shown_until_the_agent_is_connected_again() -> None:
    state = a_state()

    state.disconnected("No answer from the service.", retry_at=105.0)
    state.connecting()
    trying_again = state.snapshot
    state.connected()

    assert trying_again.last_error == "No answer from the service."
    assert state.snapshot.last_error is None


def test_when_it_is_tried_again_is_known_until_it_is() -> None:
    state = a_state()

    state.disconnected("No answer from the service.", retry_at=105.0)
    waiting = state.snapshot
    state.connecting()

    assert waiting.retry_at == 105.0
    assert state.snapshot.retry_at is None


def test_words_from_outside_cannot_steer_a_terminal_or_fill_the_disk() -> None:
    state = a_state()

    state.linked("Vo\x1b[2Jron\n" + "x" * 10_000)
    state.refused("No\r\nway", retry_at=160.0)

    assert state.snapshot.printer_name.startswith("Vo [2Jron x")
    assert len(state.snapshot.printer_name) == 500
    assert state.snapshot.last_error == "No  way"


@pytest.mark.parametrize(("measured", "shown"), [(-3.5, "-3.5"), (2.0, "2.0"), (-0.0, "0.0")])
def test_how_far_the_clock_is_off_is_kept(measured: float, shown: str) -> None:
    state = a_state()

    state.clock_is_off(measured)

    assert str(state.snapshot.clock_offset_s) == shown


@pytest.mark.parametrize("code", ["", "ACDEFG3", "ACDEFG345", "acdefg34", "ACDE-G34", "ACDEFG3<"])
def test_a_link_code_of_no_known_form_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="link code"):
        ShownLinkCode(code=code, link_url="https://printreach.example/", expires_at=1.0)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "printreach.example/link",
        "https://",
        "https://host/\nLink code",
        "https://host/ <script>",
        "https://host/" + "a" * 2000,
    ],
)
def test_a_link_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="link URL"):
        ShownLinkCode(code="ACDEFG34", link_url=url, expires_at=1.0)


def test_every_phase_has_a_sentence() -> None:
    sentences = {phase_sentence(phase) for phase in Phase}

    assert len(sentences) == len(Phase)
    assert all(sentence.endswith(".") for sentence in sentences)
