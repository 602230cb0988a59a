"""A valid platform as a tree that tests break in one place."""

from __future__ import annotations

import copy

import pytest
import yaml

from tessera.core import platforms
from tessera.core.platforms import platforms_folder


@pytest.fixture(scope="session")
def _haswell():
    return platforms.PLATFORM_FILE.read(platforms_folder() / "haswell-sim.yaml")


@pytest.fixture
def tree(_haswell):
    """haswell-sim as nested dicts, to be changed freely."""
    return copy.deepcopy(_haswell)


@pytest.fixture
def load_tree(tmp_path):
    """Writes a tree as p.yaml and loads it."""

    def load(tree):
        path = tmp_path / "p.yaml"
        path.write_text(yaml.safe_dump(tree, sort_keys=False))
        return platforms.load_platform(path)

    return load
