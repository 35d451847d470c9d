"""Finds a printer's model from the report on its parts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from printreach.printers import loose
from printreach.printers.loose import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model. measures_chamber: it measures its chamber temperature; others report a constant.

    tells_all: it pushes its whole state by itself, and may be asked for it at any time.
    """

    name: str
    measures_chamber: bool = False
    tells_all: bool = False


UNKNOWN = Model(name="Bambu Lab printer")

X1C = Model(name="Bambu Lab X1 Carbon", measures_chamber=True, tells_all=True)
X1E = Model(name="Bambu Lab X1E", measures_chamber=True, tells_all=True)
H2D = Model(name="Bambu Lab H2D", measures_chamber=True, tells_all=True)
H2S = Model(name="Bambu Lab H2S", measures_chamber=True, tells_all=True)
X1 = Model(name="Bambu Lab X1", tells_all=True)
P1P = Model(name="Bambu Lab P1P")
P1S = Model(name="Bambu Lab P1S")
P2S = Model(name="Bambu Lab P2S")
A1 = Model(name="Bambu Lab A1")
A1_MINI = Model(name="Bambu Lab A1 mini")

_BY_NAME = {model.name.lower(): model for model in (X1C, X1E, H2D, H2S, X1, P1P, P1S, P2S, A1)}
_BY_NAME |= {"bambu lab a1 mini": A1_MINI, "bambu lab x1c": X1C}
# Names of boards and projects, for firmware that does not say its product.
_BY_CODE = {"AP05": X1C, "AP02": X1E, "C11": P1P, "C12": P1S, "N1": A1_MINI, "N2S": A1}


def model_of(modules: Sequence[Json]) -> Model:
    """Return the model by the product's name, else by a code of a part."""
    for module in modules:
        product = loose.text(module, "product_name")
        if product is not None:
            return _BY_NAME.get(product.lower(), Model(name=product))
    for module in modules:
        for key in ("hw_ver", "project_name"):
            found = _BY_CODE.get(loose.text(module, key) or "")
            if found is not None:
                return found
    return UNKNOWN


def version_of(modules: Sequence[Json]) -> str:
    """Return the product and its firmware, as people know them."""
    versions = [loose.text(module, "sw_ver") for module in modules if module.get("name") == "ota"]
    name = model_of(modules).name
    return f"{name} {versions[0]}" if versions and versions[0] else name
