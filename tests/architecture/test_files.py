"""What holds for every file of the repository, whatever room it is in."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from tests.requirements_of_tests import need

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "printreach"
MAX_LINES = 400
LONG_FILES_WITH_A_REASON: dict[str, str] = {
    "src/printreach/store/webhooks/deliveries.py": "the queues of webhooks, with their tables",
    "tests/run/test_web_node.py": "what a web node answers, each asked of the same node",
    "tests/store/webhooks/test_webhook_records.py": "the queues of webhooks, on both databases",
}
"""Files above MAX_LINES that would be harder to read in two parts."""
SMALL_LINES = 40
SMALL_FILES_WITH_A_REASON = {
    "backends/detector_memory.py": "tests of many rooms use it, too",
    "detector/runtime.py": "nothing else may import ONNX Runtime",
    "run/in_process_relay.py": "the isolation walk builds a service with it, too",
    "web/front_page.py": "a page is not part of the application that lists the pages",
}
"""Files of the package below SMALL_LINES that one other file alone imports, relative to it."""
SKIPS = {
    *("pytest.skip", "pytest.importorskip", "pytest.xfail"),
    *("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail"),
}
# The journeys can be sent straight to the printer, where a rule of the relay has nothing to hold;
# the suite that every kind of printer passes leaves out what a kind cannot do.
SKIPS_MAY_STAND_IN = re.compile(
    r"tests/((test_)?requirements_of_tests[.]py|journeys/.*|rigs/sites[.]py|printers/contract_.*)"
)

# Written so that no pattern matches this file.
FOREIGN_PLACES = [
    r"pypi[.]org",
    r"files[.]pythonhosted",
    r"registry[.]npmjs",
    r"deb[.]debian",
    r"security[.]debian",
    r"(^|[\s\"'=:(`])/wor[k]/",
    r"(^|[\s\"'=:(`])/roo[t]/",
]


def tracked_files() -> list[Path]:
    """List the files that git knows, so that neither .venv nor build counts."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    need("a git checkout", listed.returncode == 0, "clone the repository")
    paths = [REPOSITORY / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def python_files() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".py"]


def module_of(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def relative(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("pattern", FOREIGN_PLACES)
def test_no_file_names_a_registry_or_a_machines_folders(pattern: str) -> None:
    foreign = re.compile(pattern.encode(), re.MULTILINE)

    assert [relative(path) for path in tracked_files() if foreign.search(path.read_bytes())] == []


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (b"https://py" + b"pi.org/simple", FOREIGN_PLACES[0]),
        (b'"/work' + b'/main/.venv"', FOREIGN_PLACES[5]),
        (b"cd /root" + b"/printreach", FOREIGN_PLACES[6]),
    ],
)
def test_the_search_for_foreign_places_finds_them(text: bytes, pattern: str) -> None:
    assert re.search(pattern.encode(), text)


def test_no_python_file_is_longer_than_one_sitting() -> None:
    lengths = {relative(path): path.read_bytes().count(b"\n") for path in python_files()}

    long = {name for name, lines in lengths.items() if lines > MAX_LINES}
    assert long == set(LONG_FILES_WITH_A_REASON)


def test_a_small_file_with_one_importer_is_part_of_it_or_has_a_reason() -> None:
    graph = grimp.build_graph("printreach", cache_dir=None)
    small = {
        path.relative_to(PACKAGE).as_posix()
        for path in python_files()
        if path.is_relative_to(PACKAGE)
        and path.name != "__init__.py"
        and path.read_bytes().count(b"\n") < SMALL_LINES
        and module_of(path) in graph.modules  # migrations are loaded by their paths
        and len(graph.find_modules_that_directly_import(module_of(path))) == 1
    }

    assert small == set(SMALL_FILES_WITH_A_REASON)


def test_every_pinned_requirement_carries_its_hash() -> None:
    pinned = re.compile(r"^[a-z0-9]\S*==\S+.*?(?<!\\)$", re.MULTILINE | re.DOTALL)
    files = sorted((REPOSITORY / "requirements").glob("*.txt"))

    assert files
    for file in files:
        pins = pinned.findall(file.read_text())
        assert pins, f"{file.name} pins nothing"
        assert [pin for pin in pins if "--hash=sha256:" not in pin] == [], file.name


def test_tests_are_skipped_only_by_saying_what_they_need() -> None:
    found = [
        f"{relative(path)}:{node.lineno}"
        for path in python_files()
        if path.is_relative_to(REPOSITORY / "tests")
        and not SKIPS_MAY_STAND_IN.fullmatch(relative(path))
        for node in _skips(path.read_text())
    ]

    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "pytest.skip('later')",
        "pytest.importorskip('numpy')",
        "@pytest.mark.skip\ndef test_it(): ...",
        "@pytest.mark.skipif(True, reason='later')\ndef test_it(): ...",
        "@pytest.mark.xfail\ndef test_it(): ...",
    ],
)
def test_the_search_for_skips_finds_them(text: str) -> None:
    assert list(_skips(text))


def _skips(text: str) -> Iterator[ast.Attribute]:
    """Find pytest.skip, pytest.importorskip and the marks that skip or excuse a test."""
    if not any(one.rpartition(".")[2] in text for one in SKIPS):
        return  # most files are not worth reading further
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in SKIPS:
            yield node


def test_what_decoding_raises_is_caught_as_a_whole() -> None:
    """A decoder of a stranger's bytes raises more than its library's exceptions."""
    own = re.compile(r"except [^\n]*msgspec[.]\w+Error")
    found = [
        f"{path.relative_to(PACKAGE)}: {line[0]}"
        for path in PACKAGE.rglob("*.py")
        for line in own.finditer(path.read_text())
    ]
    assert found == [], "use contract.codec.BAD_JSON"
