"""Starts the real PrusaLink, by its own interpreter:
`python prusalink_start.py SECONDS FILE WORDS…`.

SECONDS: how long a finished or stopped print is kept before the printer is idle again, which is
eleven by itself; FILE: while it is there, none is kept at all. The many tests that print would
spend most of their time waiting for that.
"""

import os
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

from prusa.connect.printer.files import InotifyHandler  # type: ignore[import-not-found]
from prusa.link.__main__ import main  # type: ignore[import-not-found]  # only the peer has it
from prusa.link.printer_adapter import state_manager  # type: ignore[import-not-found]
from prusa.link.printer_adapter.file_printer import FilePrinter  # type: ignore[import-not-found]
from prusa.link.serial import serial_queue  # type: ignore[import-not-found]

KEEPS_S, FORGETS = float(sys.argv.pop(1)), Path(sys.argv.pop(1))


class UnlessItForgets(float):
    """Added to the time at which a print ended, as 0.8.1 does with its constant of seconds."""

    def __radd__(self, ended_at: float) -> float:
        return ended_at if FORGETS.exists() else ended_at + float(self)


def keep_nothing_for_a_power_cut(printer: Any, *_: object) -> None:
    """Leave the file empty that tells where a print was when the power went.

    0.8.1 writes the path of the job into it, which the job may not have yet on a busy machine; the
    thread that speaks to the printer ends then. As a daemon it restarts itself, here it is broken.
    """
    Path(printer.data.pp_file_path).touch()


def confirm_what_was_sent(queue: Any, force: bool = False) -> None:
    """The printer has said ok: what was sent last is done, and that alone.

    While those who want to know of it are told, another thread may throw away what was sent, as it
    does when the printer connects and when a print is stopped, and the next is sent. 0.8.1 then
    takes that one for done; its sender is never told, and no order is carried out any more.
    """
    instruction = queue.current_instruction
    if instruction is not None and instruction.is_sent() and instruction.confirm(force=force):
        if not force:
            serial_queue.RPI_ENABLED.state = serial_queue.CondState.OK
        queue.instruction_confirmed_signal.send(queue)
        with queue.write_lock:
            if queue.current_instruction is instruction:
                queue._teardown_output_capture()
                if instruction.to_checksum:
                    queue.is_planner_fed.process_value(instruction.time_to_confirm)
                queue.current_instruction = None
    queue._try_writing()


create_in_tree, delete_from_tree = InotifyHandler._process_create, InotifyHandler.process_delete


def notice_a_folder_and_all_in_it(
    handler: Any, path: str, is_dir: bool, dir_only: bool = True
) -> None:
    """Something was created. Look into a folder once it is watched.

    0.8.1 looks first, and misses what was put there in between, which is likely on a busy machine;
    nor does it find a file again that was at the same place before.
    """
    create_in_tree(handler, path, is_dir, dir_only)
    if is_dir:
        notice_what_is_missing(handler, path)


def notice_what_is_missing(handler: Any, folder: str) -> None:
    for entry in os.scandir(folder):
        if entry.name.startswith("."):
            continue
        if not is_in_tree(handler, entry.path):
            handler._process_create(entry.path, entry.is_dir(), dir_only=False)
        elif entry.is_dir():
            notice_what_is_missing(handler, entry.path)


def forget_what_is_known(handler: Any, path: str, is_dir: bool) -> None:
    """Something was deleted. 0.8.1 stumbles over what it never noticed, and loses the news after
    it: the folder that it was in is told of for ever, and the storage is never empty again."""
    if is_in_tree(handler, path):
        delete_from_tree(handler, path, is_dir)


def is_in_tree(handler: Any, path: str) -> bool:
    storage = handler.attach_for(path)
    inside = Path(path).relative_to(storage.path_storage).parts
    return not inside or storage.tree.get(list(inside)) is not None


InotifyHandler._process_create = notice_a_folder_and_all_in_it
InotifyHandler.process_delete = forget_what_is_known
InotifyHandler.HANDLERS = MappingProxyType(
    {
        flag: forget_what_is_known if handler is delete_from_tree else handler
        for flag, handler in InotifyHandler.HANDLERS.items()
    }
)
state_manager.PRINT_END_TIMEOUT = UnlessItForgets(KEEPS_S)
FilePrinter.write_file_stats = keep_nothing_for_a_power_cut
serial_queue.SerialQueue._confirmed = confirm_what_was_sent

sys.exit(main())
