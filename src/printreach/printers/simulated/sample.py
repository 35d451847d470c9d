"""The vase that the simulated printer comes with: a few minutes, sixty layers, nice to look at.

It is hollow, as slicers print vases. Coarse infill, drawn as flat lines, looks to the
failure detector like loose strands.
"""

from importlib.resources import files

NAME = "twisted vase.gcode"


def sample_gcode() -> str:
    """Return the whole file."""
    return (files(__package__) / "data" / "vase.gcode").read_text("utf-8")
