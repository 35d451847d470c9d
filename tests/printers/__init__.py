"""Tests of printer adapters; the contract suite in contract.py is the same for all of them."""

import pytest

# The suite's assertions live in modules that pytest doesn't take for tests.
pytest.register_assert_rewrite(
    *(f"tests.printers.contract_{part}" for part in ("cameras", "controls", "files")),
    *(f"tests.printers.contract_{part}" for part in ("prints", "status", "trouble")),
    *("tests.printers.asking", "tests.printers.bench"),
)
