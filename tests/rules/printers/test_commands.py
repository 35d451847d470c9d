"""In which states a command is taken, and how its refusal reads."""

import pytest

from printreach.contract.status import State
from printreach.rules.printers.commands import Action, state_problem


@pytest.mark.parametrize(
    ("action", "state", "sentence"),
    [
        (
            Action.PAUSE,
            State.WARMING_UP,
            "Only a running print can be paused; the printer is warming up.",
        ),
        (
            Action.RESUME,
            State.ERROR,
            "Only a paused print can be resumed; the printer reports an error.",
        ),
        (
            Action.CANCEL,
            State.COMPLETE,
            "There is no print to cancel; the last print is complete.",
        ),
        (Action.HOME, State.RESUMING, "A print is under way; the print is resuming."),
    ],
)
def test_a_refusal_says_what_the_printer_does_in_whole_words(
    action: Action, state: State, sentence: str
) -> None:
    assert state_problem(action, state) == sentence


@pytest.mark.parametrize("state", [state for state in State if state is not State.PRINTING])
def test_a_print_is_paused_in_no_state_but_printing(state: State) -> None:
    assert state_problem(Action.PAUSE, state) is not None
    assert state_problem(Action.PAUSE, State.PRINTING) is None
