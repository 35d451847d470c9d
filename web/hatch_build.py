"""Say so when the package is about to be built without its styles and scripts."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_STYLES = "src/printreach/web/static/app.css"


class FrontEndCheck(BuildHookInterface):  # type: ignore[type-arg]  # the config class is private
    """The agent does without the pages' styles, so their absence is said, not refused."""

    def initialize(self, version: str, _build_data: dict[str, Any]) -> None:
        """Look for what `make install` builds; an editable install may come before it."""
        if version != "editable" and not (Path(self.root) / _STYLES).is_file():
            self.app.display_warning(
                "The service's pages will have no styles and scripts: run `make install` first."
            )
