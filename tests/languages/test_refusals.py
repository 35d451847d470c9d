"""Every sentence that an agent refuses with is marked, so that people read it in their language."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.rigs.peers import ROOT

SOURCES: Final = ROOT / "src" / "printreach"
SENTENCES: Final = {
    **dict.fromkeys(("not_supported", "failed", "bad_arguments", "bad_path", "not_authorized"), 0),
    **dict.fromkeys(("no_picture", "view_without_firmware"), 0),
    **dict.fromkeys(("PrinterRefused", "NotFound", "Conflict", "Forbidden", "unreachable"), 1),
}
"""The functions that take a sentence, with the place of that argument."""
MARKERS: Final = frozenset({"N_", "in_english"})
FOR_PROGRAMS: Final = frozenset({"agent/commands/api.py", "agent/serve.py"})
"""They say which commands there are."""
WORDS_OF_PRINTERS: Final = frozenset({"f'{words}.'"})


def test_every_refusal_of_the_agent_is_marked() -> None:
    assert [*_unmarked(SOURCES / "printers"), *_unmarked(SOURCES / "agent")] == []


def test_an_unmarked_refusal_is_found() -> None:
    source = 'raise failed(f"No {x}.")\nwhy = "No."\nraise failed(N_("No.") if x else "Never.")'

    assert [text for _, text in _unmarked_in(source)] == ["f'No {x}.'", "'Never.'"]


def _unmarked(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if name in FOR_PROGRAMS or "/simulated/" in name:
            continue
        for line, text in _unmarked_in(path.read_text()):
            if text not in WORDS_OF_PRINTERS:
                yield f"{name}:{line}", text


def _unmarked_in(source: str) -> Iterator[tuple[int, str]]:
    module = ast.parse(source)
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            place = SENTENCES.get(_name_of(node.func))
            if place is not None and len(node.args) > place:
                yield from _strings_of(node.args[place])
            for keyword in node.keywords:
                if _name_of(node.func) == "Trouble" and keyword.arg == "sentence":
                    yield from _strings_of(keyword.value)
        elif isinstance(node, ast.Assign) and _name_of(node.targets[0]) == "sentence":
            yield from _strings_of(node.value)


def _strings_of(value: ast.expr) -> Iterator[tuple[int, str]]:
    """The strings that an expression may have for its value, but for those in markers."""
    match value:
        case ast.JoinedStr() | ast.Constant(value=str()):
            yield value.lineno, ast.unparse(value)
        case ast.IfExp():
            yield from _strings_of(value.body)
            yield from _strings_of(value.orelse)
        case ast.BoolOp():
            for one in value.values:
                yield from _strings_of(one)


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
