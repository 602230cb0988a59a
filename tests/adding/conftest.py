"""A checkout to add things to: what changes is copied, the rest is linked."""

from __future__ import annotations

import shutil

import pytest

COPIED = ("src", "config", "workflow", "artifacts/simulator/src")


@pytest.fixture(scope="module")
def checkout(root, tmp_path_factory):
    """A copy of this checkout, free to be changed."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "artifacts/simulator/CMakeLists.txt", copy / "artifacts/simulator")
    for path in root.iterdir():
        if path.name not in {name.split("/")[0] for name in COPIED} | {"results", ".git"}:
            (copy / path.name).symlink_to(path)
    return copy
