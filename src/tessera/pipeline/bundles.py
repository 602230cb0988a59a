"""Which bundles take part in a run: those of the checkout, and those that ``./run reproduce --bundle`` names.

It imports only the standard library, because every start of Snakemake imports it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "TESSERA_BUNDLES"  #: a path a line
FOLDER = "bundles"


def sources(root: Path = Path(), environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Paths of the bundles, each once: the folders of ``bundles/`` by name, then the named ones in order."""
    added = sorted(p for p in (root / FOLDER).glob("*") if p.is_dir() and not p.name.startswith("."))
    named = [Path(line) for line in environment.get(VARIABLE, "").splitlines() if line]
    return list(dict.fromkeys([*added, *named]))
