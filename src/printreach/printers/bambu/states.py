"""Bambu's states, stages and faults in the words of the contract. Pure."""

from printreach.contract.status import State
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.rules.prints import Need, need_of_words

_STATES = {
    "PREPARE": State.WARMING_UP,
    "SLICING": State.PRINTING,
    "RUNNING": State.PRINTING,
    "PAUSE": State.PAUSED,
    "FINISH": State.COMPLETE,
    "FAILED": State.CANCELLED,
}
"""IDLE, INIT, OFFLINE, UNKNOWN and what is new are idle.

FAILED without a fault is a cancelled print: the code of a cancel shows for some seconds, and FAILED
until the next print. Source: reports of X1 and P1 that their owners published.
"""

_HEATING_STAGES = {2, 7}

_BY_A_PERSON = N_("Paused by a person")

# The first numbers are in the facts; 3, 11, 12, 15, 17, 18, 20, 21, 23 and 25 to 34 are as the
# public client libraries name them.
_STAGES = {
    1: N_("Levelling the bed"),
    2: N_("Heating the bed"),
    3: N_("Measuring vibrations"),
    4: N_("Changing the filament"),
    5: N_("Paused by the print file"),
    6: N_("Paused: the filament ran out"),
    7: N_("Heating the nozzle"),
    8: N_("Calibrating the flow"),
    9: N_("Scanning the bed"),
    10: N_("Checking the first layer"),
    11: N_("Looking for the build plate"),
    12: N_("Calibrating the lidar"),
    13: N_("Homing"),
    14: N_("Cleaning the nozzle"),
    15: N_("Checking the nozzle's temperature"),
    16: _BY_A_PERSON,
    17: N_("Paused: the front cover fell off"),
    18: N_("Calibrating the lidar"),
    19: N_("Calibrating the flow"),
    20: N_("Paused: the nozzle's temperature is wrong"),
    21: N_("Paused: the bed's temperature is wrong"),
    22: N_("Unloading the filament"),
    23: N_("Paused: the printer lost steps"),
    24: N_("Loading the filament"),
    25: N_("Calibrating the motors' noise"),
    26: N_("Paused: the AMS is lost"),
    27: N_("Paused: the hotend's fan is too slow"),
    28: N_("Paused: the chamber's temperature is wrong"),
    29: N_("Cooling the chamber"),
    30: N_("Paused by the print file"),
    32: N_("Paused: filament wraps the nozzle"),
    33: N_("Paused: the cutter is stuck"),
    34: N_("Paused: the first layer looks wrong"),
    35: N_("Paused: the nozzle is clogged"),
    49: N_("Heating the chamber"),
    77: N_("Preparing the AMS"),
}

_WAITING = {5, 6, 17, 20, 21, 23, 26, 27, 28, 30, 32, 33, 34, 35}
"""Stages in which it waits for a person."""
_RUNOUT = N_("The filament ran out")
_PAUSES = {
    **dict.fromkeys((0x07008011, 0x07018011, 0x07028011, 0x07038011, 0x07FF8011), _RUNOUT),
    0x03008000: "Paused",
    0x03008001: _BY_A_PERSON,
    0x03008003: N_("The printer's camera saw a failed print"),
    0x03008013: N_("Paused by the print file"),
    134184967: N_("Push the filament in"),  # 0x07FF8007
}
"""The reasons of a pause that are no fault of the printer."""
_CANCELS = {0x0300400C, 0x0500400E}
_NO_ERRORS = {0, 0x05008030, 0x03008012, 0x0500C011, *_CANCELS, *_PAUSES}
_MIN_CODE = 0x01000000
"""A code has eight digits, of which the first two name a part of the printer."""


def state_of(report: Json) -> State:
    """Return the state; a real fault takes precedence."""
    if fault_of(report):
        return State.ERROR
    state = _STATES.get((loose.text(report, "gcode_state") or "").upper(), State.IDLE)
    if state is State.PRINTING and loose.whole(report, "stg_cur") in _HEATING_STAGES:
        return State.WARMING_UP
    if state is State.COMPLETE and loose.whole(report, "total_layer_num") == 0:
        return State.IDLE
    return state


def sub_state_of(report: Json, state: State) -> str | None:
    """Return what the printer does at the moment, or why it is paused."""
    if state is State.PAUSED:
        why = _PAUSES.get(loose.whole(report, "print_error") or 0)
        if why is not None and why != "Paused":
            return why
    if state in (State.WARMING_UP, State.PRINTING, State.PAUSED):
        return _STAGES.get(loose.whole(report, "stg_cur") or 0)
    return None


def fault_of(report: Json) -> int:
    """print_error where it is a fault, or what made a print fail that is over, else 0.

    print_error goes back to 0 while the state stays FAILED; a whole report keeps the code in
    fail_reason. Source: reports of a cancelled print that were published.
    """
    number = loose.whole(report, "print_error") or 0
    if not number and loose.text(report, "gcode_state") == "FAILED":
        reason = loose.number(report, "fail_reason") or 0.0
        number = int(reason) if _MIN_CODE <= reason < 1 << 32 else 0
    return 0 if number in _NO_ERRORS else number


def error_of(report: Json) -> str | None:
    """Return the fault as the printer's screen and its maker's pages number it."""
    fault = fault_of(report)
    if not fault:
        return None
    digits = f"{fault & 0xFFFFFFFF:08X}"
    codes = health_codes(report)
    code = f"{digits[:4]}-{digits[4:]}"
    if not codes:
        return in_english("The printer reports error %(number)s.", number=code)
    return in_english(
        "The printer reports error %(number)s (HMS %(codes)s).",
        number=code,
        codes=", ".join(codes[:3]),
    )


def need_of(report: Json, state: State) -> Need | None:
    """Return why a print paused by itself. A fault is an error, and no need."""
    stage = loose.whole(report, "stg_cur") or 0
    why = _PAUSES.get(loose.whole(report, "print_error") or 0)
    if state is not State.PAUSED or why == _BY_A_PERSON or (why is None and stage not in _WAITING):
        return None
    words = why if why not in (None, "Paused") else _STAGES.get(stage)
    return None if words is None or words == _BY_A_PERSON else need_of_words(words)


def code_of(report: Json) -> str:
    """Return the number of a fault, as error_of shows it; "" for none."""
    digits = f"{fault_of(report) & 0xFFFFFFFF:08X}"
    return f"{digits[:4]}-{digits[4:]}" if fault_of(report) else ""


def health_codes(report: Json) -> list[str]:
    """Entries of its health list, as 0300-0100-0001-0001."""
    codes = []
    for entry in loose.items(report, "hms"):
        attribute, code = loose.size(entry, "attr"), loose.size(entry, "code")
        if attribute is None or code is None or max(attribute, code) >= 1 << 32:
            continue
        digits = f"{attribute:08X}{code:08X}"
        codes.append("-".join(digits[at : at + 4] for at in range(0, 16, 4)))
    return codes
