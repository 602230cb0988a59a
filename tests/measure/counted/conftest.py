from __future__ import annotations

import pytest

from .world import World


@pytest.fixture
def world(tmp_path, monkeypatch):
    made = World(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made
