"""What tests of command lines share."""

from __future__ import annotations

import pytest


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """An empty checkout; the caller is in its folder ``inner``."""
    folder = tmp_path / "checkout"
    (folder / "inner").mkdir(parents=True)
    monkeypatch.setenv("TESSERA_ROOT", str(folder))
    monkeypatch.chdir(folder / "inner")
    return folder
