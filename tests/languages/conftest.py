"""A language whose every text is the English one between brackets, so that one sees what is not."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import pytest

from printreach import languages
from printreach.hub.accounts import owner
from printreach.languages.catalogues import Catalogue, catalogue_of
from printreach.web.accounts import overview


class _Bracketed(dict[str, str]):
    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        return f"⟦{key.rpartition(chr(4))[2]}⟧"


class _KnownBracketed(dict[str, str]):
    """Of the texts that are in the catalogues; others stay as they are, such as an agent's own."""

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__((text, f"⟦{text.rpartition(chr(4))[2]}⟧") for text in texts)


class _BracketedForms(Catalogue):
    def counted(self, singular: str, count: int) -> str | None:
        return f"⟦{singular}⟧"


@pytest.fixture
def brackets(monkeypatch: pytest.MonkeyPatch) -> str:
    """Offer it as German."""
    _offer(monkeypatch, _BracketedForms(_Bracketed(), {"Copied": "⟦Copied⟧"}, {}, lambda _count: 0))
    return "de"


@pytest.fixture
def known_brackets(monkeypatch: pytest.MonkeyPatch) -> str:
    """Offer it as German, with brackets for those texts alone that translators have translated.

    So a sentence of an agent or of the store shows whether it is recognised.
    """
    real = catalogue_of("de")
    texts = _KnownBracketed(real.texts)
    _offer(monkeypatch, _BracketedForms(texts, {}, {}, lambda _count: 0, real.templates))
    return "de"


def _offer(monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue) -> None:
    offered: Mapping[str, str] = MappingProxyType(
        {"en": "English", "de": "Deutsch", "zh-Hans": "简体中文"}
    )
    for module in (languages, owner, overview):
        monkeypatch.setattr(module, "NAMES", offered)
    monkeypatch.setattr(languages, "catalogue_of", lambda _language: catalogue)
