"""A secret as a QR code, for the camera of an authenticator app."""

from markupsafe import Markup


def qr_code(text: str) -> Markup:
    """Return an SVG with its own white background, since cameras can't read light codes on dark."""
    import segno  # for the few pages that show one

    code = segno.make(text, error="m", micro=False)
    drawn = code.svg_inline(
        scale=4, border=4, dark="#000", light="#fff", svgclass="qr", lineclass=None
    )
    return Markup(drawn)  # noqa: S704 - lines and numbers; the text is in their places alone
