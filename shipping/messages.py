"""Collect the texts of the sources, and bring the catalogues of the languages up to date.

Whoever changes a text runs it by `make messages`. A translator then fills what is empty, and looks
at what is marked as fuzzy: the English of it has changed.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po, write_po

from printreach.languages.catalogues import FOLDER, KEPT_IN_ENGLISH

ROOT: Final = Path(__file__).parents[1]
LANGUAGES: Final = ("de", "es", "fr", "zh-Hans")
KEYWORDS: Final = {
    "_": None,
    "N_": None,
    "in_english": None,
    "gettext": None,
    "ngettext": (1, 2),
    "N_ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "t": None,
}
_HEAD: Final = "# Printreach. Texts are changed in the sources, and collected by `make messages`."


def collect() -> Catalog:
    """Return every marked text of the sources, with the files that it is in."""
    with (FOLDER / "extraction.ini").open() as settings:
        methods, options = parse_mapping_cfg(settings)  # type: ignore[no-untyped-call]
    template = Catalog(charset="utf-8", fuzzy=False)
    in_python = [row for row in methods if row[1] == "python"]
    marked = extract_from_dir(ROOT, in_python, options, {"N_": None, "in_english": None})
    kept = {text for _path, _line, text, *_ in marked if "%(" in text}
    found = extract_from_dir(ROOT, methods, options, KEYWORDS, ["Translators:"])
    for path, _line, text, comments, context in sorted(found, key=lambda row: row[:2]):
        flags = [KEPT_IN_ENGLISH] if context is None and text in kept else []
        template.add(text, None, [(path, 1)], flags, auto_comments=comments, context=context)
    return template


def updated(language: str, template: Catalog) -> bytes:
    """Return the file of a language with the texts of a template and the translations it has."""
    locale, path = language.replace("-", "_"), FOLDER / language / "messages.po"
    catalogue = Catalog(locale=locale, charset="utf-8", fuzzy=False)
    if path.is_file():
        with path.open("rb") as kept:
            catalogue = read_po(kept, locale=locale)
    catalogue.update(template)
    catalogue.obsolete.clear()
    catalogue.header_comment = _HEAD
    file = io.BytesIO()
    write_po(file, catalogue, sort_output=True, include_lineno=False, width=100)
    return b"".join(_without_what_changes(file.getvalue()))


def _without_what_changes(content: bytes) -> Iterator[bytes]:
    """Keep of the head what the format needs: the rest would change each time."""
    kept = (b'"Language:', b'"Plural-Forms', b'"Content-Type', b'"Content-Transfer', b'"MIME')
    is_head = True
    for line in content.splitlines(keepends=True):
        is_head = is_head and line.strip() != b""
        if not is_head or not line.startswith(b'"') or line.startswith(kept):
            yield line


def main() -> int:
    template = collect()
    for language in LANGUAGES:
        folder = FOLDER / language
        folder.mkdir(exist_ok=True)
        (folder / "messages.po").write_bytes(updated(language, template))
    print(f"{len(template)} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
