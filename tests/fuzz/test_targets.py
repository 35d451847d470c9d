"""Each target passes what the fuzzer begins with and what it once found, and can fail."""

from pathlib import Path

import pytest

from fuzz.targets import TARGETS, seeds

FOUND = Path(__file__).parent / "found"


def found_cases() -> list[Path]:
    """What the fuzzer found, one file each, in a folder named as its target."""
    return sorted(path for path in FOUND.glob("*/*") if path.parent.name in TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_pass(name: str) -> None:
    for seed in seeds(name):
        TARGETS[name](seed)


@pytest.mark.parametrize("path", found_cases(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_stays_repaired(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_has_seeds(name: str) -> None:
    assert seeds(name)
