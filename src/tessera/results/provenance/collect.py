"""Write and read ``provenance/*.json`` of a results tree."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import yaml

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.results.cells import read_cells
from tessera.results.provenance import hashes, machine, versions
from tessera.results.provenance.scrub import scrubber
from tessera.results.status import ok_rows
from tessera.results.tree import Tree

PARTS = ("config", "versions", "git", "machine", "engine", "hashes", "quantities")
#: Inputs in the checkout that influence results, in addition to the sources that git names.
INPUTS = ("config", "reference-results", "requirements.lock")


def collect(results_dir: Path | str, config: dict | Path | str | None = None) -> dict[str, dict]:
    """Gather and write the parts.

    Args:
        results_dir: ``results/<config>``.
        config: effective config, its YAML file, or None for what :func:`keep_config` kept, else for
            ``config/<name of the folder>.yaml``.

    Returns:
        The parts by name (:data:`PARTS`), as written.
    """
    results = Path(results_dir)
    found = {
        "config": _config(results, config),
        "versions": versions.packages(),
        "git": versions.git(),
        "machine": machine.describe(),
        "engine": versions.engine(),
        "hashes": {
            "results": hashes.tree(results, results / "cache" / "hashes.json"),
            "inputs": _input_hashes(),
        },
        "quantities": quantities(results),
    }
    clean = scrubber()
    for name in PARTS:
        found[name] = clean(found[name])
        _write(results, name, found[name])
    return found


def _write(results: Path, part: str, found: dict) -> None:
    path = Tree(results).provenance(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(found, indent=1, sort_keys=True) + "\n")


def keep_config(results_dir: Path | str, config: dict) -> None:
    """Write the effective configuration of a run before its first job: later parts and readers use it."""
    _write(Path(results_dir), "config", scrubber()(config))


def load(results_dir: Path | str) -> dict[str, dict]:
    """Read the parts; a missing or unreadable part becomes an empty dictionary."""
    folder, parts = Path(results_dir) / "provenance", {}
    for name in PARTS:
        try:
            parts[name] = json.loads((folder / f"{name}.json").read_text())
        except (OSError, ValueError):
            parts[name] = {}
    return parts


def quantities(results: Path) -> dict:
    """Number of good cells by platform, engine and provenance."""
    try:
        cells = read_cells(results / "cells.csv")
    except (TesseraError, pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        return {"note": getattr(error, "found", str(error))}
    good = ok_rows(cells)
    counted = good.groupby(["platform", "engine", "runtime_provenance", "tlb_provenance"]).size()
    names = ["platform", "engine", "runtime", "stlb_hits_misses_walk_cycles", "cells"]
    rows = [dict(zip(names, (*key, int(n)), strict=True)) for key, n in counted.items()]
    return {"statuses": {k: int(n) for k, n in cells["status"].value_counts().items()}, "cells": rows}


def _config(results: Path, config: dict | Path | str | None) -> dict:
    if isinstance(config, dict):
        return config
    kept = load(results)["config"]
    if not config and set(kept) - {"note"}:  # not only why an earlier report found none
        return kept
    path = Path(config) if config else repo_root() / "config" / f"{results.name}.yaml"
    if not path.exists():
        return {"note": f"no config file {path.name}"}
    try:
        return yaml.safe_load(path.read_text()) or {}
    except yaml.YAMLError as error:
        raise TesseraError(f"config {path}", f"not YAML: {error}", "correct the file") from None


def _input_hashes() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in INPUTS:
        path = repo_root() / name
        if path.is_file():
            found[name] = hashes.digest(path)
        elif path.is_dir():
            found |= {f"{name}/{inner}": value for inner, value in hashes.tree(path).items()}
    return found
