"""Includes of the component go downward only, as its README says."""

from __future__ import annotations

import re

import pytest

ALLOWED = {
    "core": {"core", "mosalloc", "tessera"},  # artifacts/common, artifacts/layout-format
    "preload": {"preload", "core", "mosalloc"},
    "run": {"run", "mosalloc", "counters", "tessera"},  # artifacts/counters, artifacts/common
}


@pytest.mark.parametrize("folder", ALLOWED)
def test_includes_go_downward(root, folder):
    files = [
        path for path in (root / "artifacts/mosalloc" / folder).iterdir() if path.suffix in (".h", ".cpp")
    ]
    assert files
    for path in files:
        included = set(re.findall(r'#include "(\w+)/', path.read_text()))
        assert included <= ALLOWED[folder], path
