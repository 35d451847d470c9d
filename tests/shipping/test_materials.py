"""The bill of materials names all that is shipped, and its licences go with ours."""

import json
import re
from pathlib import Path

import pytest

from shipping.__main__ import BILL, LICENCES, ROOT, main
from shipping.materials import LicenceUnknown, Material, licence_of, python_materials
from tests.architecture.test_installing import pins, shipped

COMPATIBLE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC"),
    *("MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
}
"""Licences that ask for no more than naming them."""
ACCEPTED = {
    "certifi": "MPL-2.0: a list of certificates, used as it is and changed nowhere",
    "axe-core": "MPL-2.0: it looks at pages in the tests, and is not shipped",
    "@resvg/resvg-wasm": "MPL-2.0: it draws the icons when pages are built, and is not shipped",
}
"""Others, with the reason why they do no harm."""


def is_compatible(licence: str) -> bool:
    """One alternative of an OR is enough, and of it every part."""
    return any(
        all(part in COMPATIBLE for part in re.split(r" AND ", alternative.strip("() ")))
        for alternative in licence.split(" OR ")
    )


@pytest.fixture
def made(tmp_path: Path) -> Path:
    main(tmp_path, shipped())
    return tmp_path


def test_every_library_of_the_shipped_lists_stands_in_the_bill_of_materials(made: Path) -> None:
    bill = json.loads((made / BILL).read_text())
    there = {(one["name"], one["version"]) for one in bill["components"]}

    for extra in shipped():
        assert {(name, version) for name, version, _ in pins(extra)} <= there
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert set(bill["dependencies"][0]["dependsOn"]) <= {
        one["bom-ref"] for one in bill["components"]
    }


def test_the_bill_of_materials_has_the_hashes_that_the_lists_have() -> None:
    materials = python_materials(ROOT / "requirements", shipped())

    listed = {
        one
        for extra in shipped()
        for one in re.findall(
            r"sha256:(\w{64})", (ROOT / "requirements" / f"{extra}.txt").read_text()
        )
    }
    assert {one for material in materials for one in material.hashes} == listed
    assert all(material.hashes for material in materials)


def test_what_builds_the_pages_stands_there_as_not_shipped(made: Path) -> None:
    bill = json.loads((made / BILL).read_text())
    scopes = {one["name"]: one["scope"] for one in bill["components"]}

    assert scopes["esbuild"] == "excluded"
    assert scopes["msgspec"] == "required"


def test_nothing_of_other_peoples_gets_into_the_pages_styles_and_scripts() -> None:
    ours = [*(ROOT / "web/scripts").rglob("*.ts"), *(ROOT / "web/styles").rglob("*.css")]
    imported = {
        (file.parent, name)
        for file in ours
        for name in re.findall(r"(?:from|import|@import)\s+[\"']([^\"']+)", file.read_text())
    }

    assert imported
    foreign = {
        name
        for folder, name in imported
        if not any((folder / name).with_suffix(kind).is_file() for kind in (".css", ".ts"))
    }
    assert foreign == set()


def test_every_licence_goes_with_ours_or_is_accepted_for_a_reason(made: Path) -> None:
    lines = (made / LICENCES).read_text().split("\n\n", 1)[1].splitlines()
    rows = [line.split("\t") for line in lines]

    unfit = [row[:3] for row in rows if not is_compatible(row[2]) and row[0] not in ACCEPTED]
    assert len(rows) > 60
    assert unfit == []


@pytest.mark.parametrize(
    ("licence", "fits"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("BSD-3-Clause AND MIT", True),
        ("GPL-3.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("MIT AND GPL-2.0-only", False),
        ("unknown", False),
    ],
)
def test_a_licence_that_asks_for_more_is_found(licence: str, fits: bool) -> None:
    assert is_compatible(licence) is fits


def test_a_library_whose_licence_nobody_knows_is_named() -> None:
    with pytest.raises(LicenceUnknown, match="no-such-library"):
        licence_of("no-such-library")


def test_a_library_is_named_as_advisories_name_it() -> None:
    one = Material(
        name="@esbuild/linux-x64",
        version="1.2.3",
        licence="MIT",
        kind="npm",
        hashes=(),
        needed_by=("pages",),
    )

    assert one.purl == "pkg:npm/%40esbuild/linux-x64@1.2.3"
