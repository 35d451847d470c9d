"""Prints as slicers write them: G-code with its totals above it, and projects around that."""

import io
import os
import zipfile

HEAD = b"""; HEADER_BLOCK_START
; BambuStudio 02.01.01.52
; model printing time: 1h 26m 10s; total estimated time: 1h 32m 24s
; total layer number: 35
; total filament length [mm] : 3876.08,2356.72
; total filament volume [cm^3] : 9323.05,5668.58
; total filament weight [g] : 11.84,7.20
; filament_density: 1.27,1.27
; max_z_height: 9.25
; HEADER_BLOCK_END

; CONFIG_BLOCK_START
; filament_type = PLA;PETG
; initial_layer_print_height = 0.25
; layer_height = 0.2
; nozzle_diameter = 0.4
; CONFIG_BLOCK_END
"""


def gcode(seconds: int = 600) -> bytes:
    """A print that the fake printer takes so long for."""
    return HEAD + b"; seconds %d\nG28\n" % seconds


def project(*plates: bytes, filler: int = 0, picture: bytes = b"") -> bytes:
    """A project of these plates. filler: bytes of a model that nobody wants to fetch.
    picture: of the first plate."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        for number, plate in enumerate(plates, 1):
            archive.writestr(f"Metadata/plate_{number}.gcode", plate)
            archive.writestr(f"Metadata/plate_{number}.gcode.md5", "0")
        if picture:
            archive.writestr("Metadata/plate_1.png", picture)
        archive.writestr("3D/3dmodel.model", os.urandom(filler))
    return data.getvalue()
