"""Klipper's words, shortened for people. Pure."""

MAX_CHARS = 200


def shortened(message: str | None) -> str | None:
    """Return one line without its full stop; None for nothing.

    Klipper explains itself over several lines, of which the first says what is wrong.
    """
    lines = [line.strip() for line in (message or "").splitlines()]
    first = next((line for line in lines if line), "")
    return first.removeprefix("!! ")[:MAX_CHARS].rstrip(". ") or None
