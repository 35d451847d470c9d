"""Prompts of a Klipper printer to the person beside it. Pure.

Macros show questions in the web interfaces by lines of G-code answers: `// action:prompt_begin`
with a title, `prompt_text` with more, `prompt_show`, and `prompt_end` when it is answered. Source:
Klipper's command reference, RESPOND, and Mainsail's page on macro prompts. And a filament sensor
that sees none is why a print rests.
"""

from dataclasses import dataclass
from typing import Final

from printreach.contract.status import State
from printreach.printers import loose
from printreach.rules.prints import Need, NeedKind, need_of_words

from .status import KnownState, obj, state_of

_ACTION: Final = "// action:prompt_"
_MAX_WORDS_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that is being built or shown. words: its text so far."""

    words: str = ""
    is_shown: bool = False


NO_PROMPT: Final = Prompt()


def with_line(prompt: Prompt, line: str) -> Prompt:
    """prompt after one line that Klipper answered."""
    if not line.startswith(_ACTION):
        return prompt
    action, _, words = line.removeprefix(_ACTION).partition(" ")
    match action.strip():
        case "begin":
            return Prompt(words.strip()[:_MAX_WORDS_CHARS])
        case "text":
            joined = ": ".join(word for word in (prompt.words, words.strip()) if word)
            return Prompt(joined[:_MAX_WORDS_CHARS], prompt.is_shown)
        case "show":
            return Prompt(prompt.words, is_shown=True)
        case "end":
            return NO_PROMPT
        case _:
            return prompt


def need_of(known: KnownState, prompt: Prompt) -> Need | None:
    """Return a question that is shown, else missing filament while the print is paused."""
    if prompt.is_shown:
        return need_of_words(prompt.words)
    if state_of(known) is State.PAUSED and _is_out_of_filament(known):
        return Need(kind=NeedKind.FILAMENT, text="The filament ran out.")
    return None


def _is_out_of_filament(known: KnownState) -> bool:
    return any(
        loose.flag(obj(known, name), "enabled") is True
        and loose.flag(obj(known, name), "filament_detected") is False
        for name in known.machine.filament_sensors
    )
