"""The template environment, with its filters and functions."""

from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from printreach import __version__
from printreach.contract.platforms import PLATFORM_FACTS, facts_of
from printreach.web.assets import asset_addresses
from printreach.web.permissions import limits_in_words
from printreach.web.wording import FILTERS

_TEMPLATES: Final = Path(__file__).parent / "templates"


def template_environment(
    base_url: str,
    *extra_folders: Path,
    other_sign_in: str | None = None,
    has_mail_server: bool = False,
) -> Environment:
    """Build a strict environment: undefined variables are errors, and everything is escaped.

    extra_folders: searched after the package's own. other_sign_in: the name of the operator's
    OpenID Connect provider, if any. has_mail_server: whether mails reach anybody.
    """
    environment = Environment(
        loader=FileSystemLoader([_TEMPLATES, *extra_folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS, limits_in_words=limits_in_words)
    environment.globals.update(base_url=base_url, version=__version__, asset=asset_addresses())
    environment.globals.update(platforms=PLATFORM_FACTS, facts_of=facts_of)
    environment.globals.update(other_sign_in=other_sign_in, has_mail_server=has_mail_server)
    return environment
