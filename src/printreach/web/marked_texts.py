"""The texts of templates in the reader's language: `_("…")`, `ngettext` and `{% trans %}`.

A marked text may contain markup, so it isn't escaped; the values in it are.
"""

from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from printreach.languages import (
    grouped,
    language,
    message,
    script_messages,
    translate,
    translate_counted,
    translate_in_context,
)


def speak_the_readers_language(environment: Environment) -> None:
    """Have the templates of an environment with Jinja's extension i18n use our catalogues."""
    settings: Any = environment  # the extension adds to it what types do not know
    settings.newstyle_gettext = True
    settings.policies["ext.i18n.trimmed"] = True
    environment.globals.update(_=_gettext, gettext=_gettext, ngettext=_ngettext, pgettext=_pgettext)
    environment.globals.update(language=language, script_messages=script_messages)
    environment.filters["translate"] = translate


def _gettext(text: str, /, **values: object) -> Markup:
    return Markup(message(text)) % values  # noqa: S704 - our own texts


def _pgettext(context: str, text: str, /, **values: object) -> Markup:
    return Markup(translate_in_context(context, text)) % values  # noqa: S704 - our own texts


def _ngettext(singular: str, plural: str, count: int, /, **values: object) -> Markup:
    values.setdefault("num", grouped(count))
    return Markup(translate_counted(singular, plural, count)) % values  # noqa: S704 - our own texts
