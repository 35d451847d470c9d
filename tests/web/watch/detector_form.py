"""The form of the failure-detection settings, as an owner sends it."""

EVIL = "<script>alert(1)</script>"
"""A name that would run on a page that trusted it."""
FORM = {
    "enabled": "yes",
    "camera": "",
    "warning_level": "2",
    "pauses": "yes",
    "pause_level": "4",
    "disable_hotend": "yes",
    "z_lift": "5",
    "retract": "2",
    "pose": "0",
}
BOX = {
    "region-1-left": "10",
    "region-1-top": "20",
    "region-1-width": "30",
    "region-1-height": "40",
}
"""A part of the picture that is not looked at, as a share of it in percent."""
