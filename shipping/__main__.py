"""python -m shipping FOLDER LIST...: write the bill of materials and the licences into a folder."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from printreach import __version__
from shipping.materials import Material, page_materials, python_materials

ROOT: Final = Path(__file__).parents[1]
BILL: Final = "sbom.cdx.json"
LICENCES: Final = "THIRD-PARTY-LICENSES"


def bill_of(materials: Sequence[Material]) -> dict[str, Any]:
    """CycloneDX 1.6. What only builds the pages is excluded from what is shipped."""
    wheel = f"pkg:pypi/printreach@{__version__}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": wheel,
                "name": "printreach",
                "version": __version__,
                "purl": wheel,
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": one.purl,
                "name": one.name,
                "version": one.version,
                "purl": one.purl,
                "scope": "excluded" if one.kind == "npm" else "required",
                "licenses": [{"expression": one.licence}],
                "properties": [
                    {"name": "printreach:needed-by", "value": needed} for needed in one.needed_by
                ]
                + [{"name": "printreach:file-sha256", "value": each} for each in one.hashes],
            }
            for one in materials
        ],
        "dependencies": [
            {"ref": wheel, "dependsOn": [one.purl for one in materials if one.kind == "pypi"]}
        ],
    }


def licences_of(materials: Sequence[Material]) -> str:
    """A line for each: name, version, licence, what needs it."""
    rows = [(one.name, one.version, one.licence, " ".join(one.needed_by)) for one in materials]
    head = (
        "What Printreach is used with: name, version, licence (SPDX), and the list that needs it.\n"
        'Lines of "pages" only build the styles and scripts; none of their files are shipped.\n\n'
    )
    return head + "".join("\t".join(row) + "\n" for row in rows)


def main(folder: Path, lists: Sequence[str]) -> None:
    """Write both files."""
    materials = [
        *python_materials(ROOT / "requirements", lists),
        *page_materials(ROOT / "web" / "package-lock.json"),
    ]
    (folder / BILL).write_text(json.dumps(bill_of(materials), indent=1) + "\n")
    (folder / LICENCES).write_text(licences_of(materials))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
