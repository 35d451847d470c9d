"""Which layer a print is at: told by the slicer's comments, else by the height it extrudes at."""

import math
import re

_NUMBERED = re.compile(r"LAYER:\s*(\d{1,7})")
_TOTAL = re.compile(r"(?:LAYER_COUNT|total layer(?:s count| number)|num_layers)\s*[:=]\s*(\d{1,7})")
_RISE_MM = 0.01
"""Less is no new layer but the ripple of a spiral's start or a mesh."""


class LayerCounter:
    """Counts layers from 1; 0 before the first."""

    def __init__(self) -> None:
        self.current = 0
        self.total: int | None = None
        self._told_by_comments = False
        self._highest_mm = -math.inf

    def read_comment(self, comment: str) -> None:
        """`LAYER:7` (Cura: counts from 0), `LAYER_CHANGE` (PrusaSlicer), and their totals."""
        if numbered := _NUMBERED.match(comment):
            self._tell(int(numbered[1]) + 1)
        elif comment in ("LAYER_CHANGE", "CHANGE_LAYER"):
            self._tell(self.current + 1 if self._told_by_comments else 1)
        elif total := _TOTAL.match(comment):
            self.total = int(total[1])

    def extrude_at(self, height_mm: float) -> None:
        """Plastic is laid at this height; without comments, a new height is a new layer."""
        if not self._told_by_comments and height_mm > self._highest_mm + _RISE_MM:
            self._highest_mm = height_mm
            self.current += 1

    def _tell(self, layer: int) -> None:
        self._told_by_comments = True
        self.current = layer
