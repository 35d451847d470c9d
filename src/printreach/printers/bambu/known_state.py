"""The known state of a Bambu Lab printer, built up from its messages, and its model. Pure.

X1 printers push their whole state again and again; P1 and A1 printers push what has changed. Source
of all field names in this folder: facts gathered from a client in the field, not from the maker.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from printreach.printers import loose
from printreach.printers.loose import EMPTY, Json, merged

WHOLE_REPORT_KEYS = 40
"""A report with more keys than this is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """All that the printer has reported. report: `print` object.

    modules: of get_version's answer.
    """

    report: Json = field(default_factory=dict)
    modules: tuple[Json, ...] = ()

    @property
    def is_enough(self) -> bool:
        """There is a state to be told."""
        return loose.text(self.report, "gcode_state") is not None


def with_message(known: KnownState, message: object) -> KnownState:
    """Return the state after a message of the report topic; answers to orders change nothing."""
    status = loose.obj(message, "print")
    if status.get("command") == "push_status":
        is_whole = loose.whole(status, "msg") == 0 and len(status) > WHOLE_REPORT_KEYS
        return replace(known, report=merged(EMPTY if is_whole else known.report, status))
    info = loose.obj(message, "info")
    if info.get("command") == "get_version":
        modules = tuple(loose.obj(module) for module in loose.items(info, "module"))
        return replace(known, modules=modules or known.modules)
    return known


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
            model = _BY_CODE.get(loose.text(module, key) or "")
            if model is not None:
                return model
    return UNKNOWN


def version_of(modules: Sequence[Json]) -> str:
    """Return the product and its firmware, as people know them."""
    versions = [loose.text(module, "sw_ver") for module in modules if module.get("name") == "ota"]
    name = model_of(modules).name
    return f"{name} {versions[0]}" if versions and versions[0] else name
