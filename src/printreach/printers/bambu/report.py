"""The known state of a Bambu Lab printer, built up from its messages. Pure.

X1 printers push their whole state again and again; P1 and A1 printers push what has changed. Source
of all field names in this folder: facts gathered from a client in the field, not from the maker.
"""

from dataclasses import dataclass, field, replace

from printreach.printers import loose
from printreach.printers.loose import EMPTY, Json, merged

WHOLE_REPORT_KEYS = 40
"""A report with more keys than this is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """All that the printer has reported. report: `print` object.

    modules: of get_version's answer.
    """

    report: Json = field(default_factory=dict)
    modules: tuple[Json, ...] = ()

    @property
    def is_enough(self) -> bool:
        """There is a state to be told."""
        return loose.text(self.report, "gcode_state") is not None


def with_message(known: KnownState, message: object) -> KnownState:
    """Return the state after a message of the report topic; answers to orders change nothing."""
    status = loose.obj(message, "print")
    if status.get("command") == "push_status":
        is_whole = loose.whole(status, "msg") == 0 and len(status) > WHOLE_REPORT_KEYS
        return replace(known, report=merged(EMPTY if is_whole else known.report, status))
    info = loose.obj(message, "info")
    if info.get("command") == "get_version":
        modules = tuple(loose.obj(module) for module in loose.items(info, "module"))
        return replace(known, modules=modules or known.modules)
    return known
