"""Where things are in a checkout: the only module that knows the folder names."""

from __future__ import annotations

import os
from pathlib import Path

from tessera.core.errors import TesseraError


def repo_root() -> Path:
    """The checkout: ``$TESSERA_ROOT``, else the folder that holds this package's ``src``."""
    override = os.environ.get("TESSERA_ROOT")
    return Path(override).resolve() if override else Path(__file__).resolve().parents[3]


def build_dir(component: str) -> Path:
    """Build folder of one component of ``artifacts/`` (mosalloc, simulator, tracer, workloads)."""
    return repo_root() / "build" / component


def built(component: str, name: str) -> Path:
    """A built file of a component; an error with the build command if it isn't there."""
    path = build_dir(component) / name
    if not path.exists():
        raise TesseraError(
            f"{name} of component '{component}'",
            f"{path} does not exist",
            f"build it: ./run tessera build {component}",
        )
    return path
