"""A language whose every text is the English one between brackets, so that one sees what is not."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from printreach import languages
from printreach.hub.accounts import owner
from printreach.languages.catalogues import Catalogue
from printreach.web.accounts import overview


class _Bracketed(dict[str, str]):
    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        return f"⟦{key.rpartition(chr(4))[2]}⟧"


class _BracketedForms(Catalogue):
    def counted(self, singular: str, count: int) -> str | None:
        return f"⟦{singular}⟧"


@pytest.fixture
def brackets(monkeypatch: pytest.MonkeyPatch) -> str:
    """Offer it as German."""
    offered: Mapping[str, str] = MappingProxyType(
        {"en": "English", "de": "Deutsch", "zh-Hans": "简体中文"}
    )
    catalogue = _BracketedForms(_Bracketed(), {"Copied": "⟦Copied⟧"}, {}, lambda _count: 0)
    for module in (languages, owner, overview):
        monkeypatch.setattr(module, "NAMES", offered)
    monkeypatch.setattr(languages, "catalogue_of", lambda _language: catalogue)
    return "de"
