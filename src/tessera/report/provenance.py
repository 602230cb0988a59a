"""Origin of a result: config, versions, machine, engine, hashes, provenance per quantity.

``collect(results_dir, config)`` writes ``provenance/*.json``, ``keep_config`` its part ``config`` earlier.
:func:`scrubber` removes what is private from every text.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pandas as pd

from tessera import __version__
from tessera.core.configuration_files import CONFIGURATION_TEXT
from tessera.core.errors import TesseraError
from tessera.core.files import SUFFIX, file_stamp, repo_root, settled_stamp, write_text
from tessera.core.private_texts import Scrubber
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import read_cells
from tessera.core.results.tree import ResultsTree
from tessera.machine.limits import machine_processors

# The parts of ``provenance/`` in a results tree.

PARTS = ("config", "versions", "git", "machine", "engine", "hashes", "quantities")
#: Inputs in the checkout that influence results, in addition to the sources that git names.
HASHED_INPUTS = ("config", "reference-results", "requirements.lock")


def collect_provenance(results_dir: Path | str, config: dict | Path | str | None = None) -> dict[str, dict]:
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
        "config": _effective_config(results, config),
        "versions": package_versions(),
        "git": git_state(),
        "machine": machine_properties(),
        "engine": container_engine(),
        "hashes": {
            "results": tree_hashes(results, results / "cache" / "hashes.json"),
            "inputs": _input_hashes(),
        },
        "quantities": cell_quantities(results),
    }
    clean = scrubber()
    for name in PARTS:
        found[name] = clean(found[name])
        _write_part(results, name, found[name])
    return found


def _write_part(results: Path, part: str, found: dict) -> None:
    path = ResultsTree(results).provenance(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(found, indent=1, sort_keys=True) + "\n")


def keep_config(results_dir: Path | str, config: dict) -> None:
    """Write the effective configuration of a run before its first job: later parts and readers use it."""
    _write_part(Path(results_dir), "config", scrubber()(config))


def load_provenance(results_dir: Path | str) -> dict[str, dict]:
    """Read the parts; a missing or unreadable part becomes an empty dictionary."""
    folder, parts = Path(results_dir) / "provenance", {}
    for name in PARTS:
        try:
            parts[name] = json.loads((folder / f"{name}.json").read_text())
        except (OSError, ValueError):
            parts[name] = {}
    return parts


def cell_quantities(results: Path) -> dict:
    """Number of good cells by platform, engine and provenance."""
    try:
        cells = read_cells(ResultsTree(results).cells)
    except (TesseraError, pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        return {"note": getattr(error, "found", str(error))}
    good = ok_rows(cells)
    counted = good.groupby(["platform", "engine", "runtime_provenance", "tlb_provenance"]).size()
    names = ["platform", "engine", "runtime", "stlb_hits_misses_walk_cycles", "cells"]
    rows = [dict(zip(names, (*key, int(n)), strict=True)) for key, n in counted.items()]
    return {"statuses": {k: int(n) for k, n in cells["status"].value_counts().items()}, "cells": rows}


def _effective_config(results: Path, config: dict | Path | str | None) -> dict:
    if isinstance(config, dict):
        return config
    kept = load_provenance(results)["config"]
    if not config and set(kept) - {"note"}:  # not only why an earlier report found none
        return kept
    path = Path(config) if config else repo_root() / "config" / f"{results.name}.yaml"
    if not path.exists():
        return {"note": f"no config file {path.name}"}
    return CONFIGURATION_TEXT.read(path) or {}


def _input_hashes() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in HASHED_INPUTS:
        path = repo_root() / name
        if path.is_file():
            found[name] = file_digest(path)
        elif path.is_dir():
            found |= {f"{name}/{inner}": value for inner, value in tree_hashes(path).items()}
    return found


# Remove what is private from texts about a run (:mod:`tessera.core.private_texts`).


def scrubber() -> Callable[[object], object]:
    """A function that cleans strings inside nested lists and dictionaries."""
    found = Scrubber.of_this_machine(repo_root())

    def clean(value: object) -> object:
        if isinstance(value, dict):
            return {str(key): clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [clean(item) for item in value]
        return found.clean(value) if isinstance(value, str) else value

    return clean


# SHA-256 of inputs and results, kept with stamps of the files, so the next report hashes only changed ones.

#: Not hashed: output of the report, and the cell cache (its files are named by hashes).
NOT_HASHED = (
    "report", "figures", "provenance", "notebooks", "cache", "logs", "benchmarks",
    "claims.csv", "claims_elsewhere.csv", "workloads.csv", "regime.csv",
)  # fmt: skip
_CHUNK = 1 << 20


def tree_hashes(directory: Path, memory: Path | None = None) -> dict[str, str]:
    """Relative path -> SHA-256 of every file below ``directory`` except :data:`NOT_HASHED` at its top."""
    known = _known_hashes(memory)
    seen: dict[str, list] = {}
    for path in sorted(directory.rglob("*")):
        relative = path.relative_to(directory)
        temporary = any(part.endswith(SUFFIX) for part in relative.parts)
        if relative.parts[0] in NOT_HASHED or not path.is_file() or temporary:
            continue
        stamp, sha256 = file_stamp(path), ""
        if (old := known.get(str(relative))) and old[0] == stamp:
            sha256 = old[1]
        sha256 = sha256 or file_digest(path)
        seen[str(relative)] = [settled_stamp(path, stamp), sha256]
    if memory is not None:
        write_text(memory, json.dumps(seen), sync=False)
    return {name: sha256 for name, (_, sha256) in seen.items()}


def file_digest(path: Path) -> str:
    """SHA-256 of one file."""
    total = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest()


def _known_hashes(memory: Path | None) -> dict[str, list]:
    try:
        return json.loads(memory.read_text()) if memory else {}
    except (OSError, ValueError):
        return {}


# Properties of this machine that results depend on (Linux).


def machine_properties(root: Path = Path("/")) -> dict:
    """Processor, cores, memory, kernel, hypervisor, huge-page state; ``None`` if unknown."""
    info = _cpuinfo(root)
    flags = set(info.get("flags", "").split())
    memory = _meminfo(root)
    return {
        "cpu_model": info.get("model name"),
        "cpu_family_model_stepping": [info.get(k) for k in ("cpu family", "model", "stepping")],
        "cores": machine_processors(),
        "memory_bytes": memory.get("MemTotal"),
        "architecture": platform.machine(),
        "kernel": platform.release(),
        "hypervisor": _hypervisor(root, flags),
        "pages_1gb": "pdpe1gb" in flags,
        "transparent_huge_pages": _chosen_mode(root / "sys/kernel/mm/transparent_hugepage/enabled"),
        "huge_pages_2mb_reserved": _huge_pages_reserved(root, 2048),
        "huge_pages_1gb_reserved": _huge_pages_reserved(root, 1048576),
        "pmu": (root / "sys/bus/event_source/devices/cpu").exists(),
    }


def _cpuinfo(root: Path) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in _read_text(root / "proc/cpuinfo").split("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    return fields


def _meminfo(root: Path) -> dict[str, int]:
    sizes = {}
    for line in _read_text(root / "proc/meminfo").splitlines():
        parts = line.replace(":", "").split()
        if len(parts) == 3 and parts[2] == "kB":
            sizes[parts[0]] = int(parts[1]) * 1024
    return sizes


def _hypervisor(root: Path, flags: set[str]) -> str:
    if "hypervisor" not in flags:
        return "none"
    kind = _read_text(root / "sys/hypervisor/type").strip()
    return kind or "yes (not named)"


def _chosen_mode(path: Path) -> str | None:
    """``madvise`` of ``always [madvise] never``."""
    words = [word for word in _read_text(path).split() if word.startswith("[")]
    return words[0].strip("[]") if words else None


def _huge_pages_reserved(root: Path, kilobytes: int) -> int | None:
    text = _read_text(root / f"sys/kernel/mm/hugepages/hugepages-{kilobytes}kB/nr_hugepages").strip()
    return int(text) if text.isdigit() else None


def _read_text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


# Versions of the code, the packages and the container images.


def package_versions() -> dict:
    """Tessera, Python, and the direct dependencies of ``requirements.in``."""
    found = {"tessera": __version__, "python": platform.python_version()}
    listed = repo_root() / "requirements.in"
    lines = listed.read_text().splitlines() if listed.exists() else []
    for line in lines:
        name = re.split(r"[<>=~!\[; ]", line.strip(), maxsplit=1)[0]
        if name and not name.startswith(("#", "-")):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = "not installed"
    return found


def git_state() -> dict:
    """Commit, its date, and whether tracked files differ from it; without a commit, the reason."""
    if not (repo_root() / ".git").exists():  # a repository around an unpacked package is not its origin
        return {"commit": None, "note": "not a git checkout"}
    try:
        commit = _git("rev-parse", "HEAD")
    except OSError as error:
        return {"commit": None, "note": f"git does not start: {error.strerror}"}
    except subprocess.CalledProcessError as error:
        return {"commit": None, "note": f"git refuses: {' '.join(error.stderr.split())}"}
    changes = _git_output("status", "--porcelain", "--untracked-files=no")
    return {
        "commit": commit,
        "committed": _git_output("show", "-s", "--format=%cI", "HEAD"),
        "dirty": None if changes is None else bool(changes),  # None: git does not say
        "changed_files": [line[3:] for line in (changes or "").splitlines()],
        "claims_history": _file_history("config/claims.yaml", "config/proof-reading.yaml"),
        "claims_changes": _text_or_empty(repo_root() / "config" / "claims-changes.md"),
    }


def _text_or_empty(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _file_history(*paths: str) -> list[dict]:
    """Commits that changed one of the files, newest first, so later changes of claims stay visible."""
    lines = (_git_output("log", "--format=%h%x09%cs%x09%s", "--", *paths) or "").splitlines()
    return [dict(zip(("commit", "date", "subject"), line.split("\t", 2), strict=True)) for line in lines]


def container_engine() -> dict:
    """Container engine of this run, and the manifests of its images."""
    name = os.environ.get("TESSERA_ENGINE", "docker")
    images = {}
    for path in sorted((repo_root() / "build" / "images").glob("*.json")):
        try:
            images[path.stem] = json.loads(path.read_text())
        except (OSError, ValueError):
            images[path.stem] = "unreadable manifest"
    kernel = repo_root() / "build" / "kernel" / "source.json"  # the kernel's source, and why this one
    found = {"kernel_source": json.loads(kernel.read_text())} if kernel.is_file() else {}
    return {"engine": name, "images": images, **found}


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(repo_root()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip("\n")


def _git_output(*arguments: str) -> str | None:
    try:
        return _git(*arguments)
    except (OSError, subprocess.CalledProcessError):
        return None
