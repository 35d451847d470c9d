"""Which print is under way: when one begins, and what it is known by."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from printreach.contract.status import State

UNDER_WAY = frozenset({State.WARMING_UP, State.PRINTING, State.PAUSED, State.RESUMING})


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintMark:
    """The latest print. print_id: "" before the first. started_at: Unix seconds, 0 before."""

    print_id: str = ""
    started_at: int = 0
    file_name: str = ""
    is_under_way: bool = False


def observe_print(
    mark: PrintMark, state: State, file_name: str, unix_s: float, new_id: Callable[[], str]
) -> PrintMark:
    """The mark after one look at the printer.

    A print that was under way when the agent stopped goes on under its id when the agent is back,
    unless the printer meanwhile prints another file.
    """
    if state not in UNDER_WAY:
        return replace(mark, is_under_way=False) if mark.is_under_way else mark
    if mark.is_under_way and (mark.file_name == file_name or not file_name):
        return mark
    if mark.is_under_way and not mark.file_name:
        return replace(mark, file_name=file_name)  # some platforms name the file a moment later
    return PrintMark(
        print_id=new_id(), started_at=int(unix_s), file_name=file_name, is_under_way=True
    )
