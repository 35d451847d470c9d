"""When the warm-up of a print ends that extrudes nothing."""

from dataclasses import replace

import pytest

from printreach.contract.status import State
from printreach.printers.moonraker.status import KnownState, state_of, with_changes
from tests.printers.moonraker.recordings import at_first


def dry_run(*, position: int, total_s: float, bed_c: float) -> KnownState:
    """A print of 10 KB of G-code, which extrudes nothing."""
    metadata = replace(at_first().metadata, first_byte=1000, last_byte=11_000)
    status = {
        "print_stats": {
            "state": "printing",
            "filename": "dry.gcode",
            "print_duration": 0.0,
            "total_duration": total_s,
        },
        "virtual_sdcard": {"file_position": position},
        "heater_bed": {"temperature": bed_c, "target": 60.0},
    }
    return replace(with_changes(at_first(), status), metadata=metadata)


@pytest.mark.parametrize(
    ("position", "total_s", "bed_c", "state"),
    [
        (3_500, 300.0, 59.0, State.PRINTING),
        (3_499, 300.0, 59.0, State.WARMING_UP),
        (3_500, 300.0, 40.0, State.WARMING_UP),
        (3_500, 9.0, 59.0, State.WARMING_UP),
    ],
    ids=["past the start", "at the start", "heating", "just begun"],
)
def test_a_print_that_extrudes_nothing_warms_up_until_it_is_past_the_start_of_its_file(
    position: int, total_s: float, bed_c: float, state: State
) -> None:
    assert state_of(dry_run(position=position, total_s=total_s, bed_c=bed_c)) is state
