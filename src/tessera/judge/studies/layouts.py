"""Which layouts of a manifest a study simulates."""

from __future__ import annotations

from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.layouts.model import canonical_name
from tessera.layouts.names import ALL_1GB
from tessera.results.read import read_file
from tessera.results.schema.cells import MANIFEST


def chosen(manifest: Path, names: list[str] | None = None) -> list[Path]:
    """Files of the named layouts in that order; without names, all of the manifest except ``1gb``,
    which is never fitted.

    Raises:
        TesseraError: the manifest is empty (the trace failed) or lacks a name.
    """
    there = list(read_file(MANIFEST, manifest)["layout"])
    if not there:
        raise TesseraError(
            f"layouts of {manifest}", "the manifest is empty", "see the message of the trace, then run again"
        )
    wanted = [canonical_name(name) for name in names] if names else [n for n in there if n != ALL_1GB]
    if missing := [name for name in wanted if name not in there]:
        raise TesseraError(
            f"layouts {', '.join(missing)}", f"they are not in {manifest}", f"use some of: {', '.join(there)}"
        )
    return [manifest.with_name(f"{name}.csv") for name in wanted]
