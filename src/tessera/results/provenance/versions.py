"""Versions of the code, the packages and the container images."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

from tessera import __version__
from tessera.core.paths import repo_root


def packages() -> dict:
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


def git() -> dict:
    """Commit, its date, and whether tracked files differ from it; empty outside a checkout."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return {"commit": None, "note": "not a git checkout"}
    dirty = _git("status", "--porcelain", "--untracked-files=no") or ""
    return {
        "commit": commit,
        "committed": _git("show", "-s", "--format=%cI", "HEAD"),
        "dirty": bool(dirty),
        "changed_files": [line[3:] for line in dirty.splitlines()],
        "claims_history": _history("config/claims.yaml"),
        "claims_changes": _text(repo_root() / "config" / "claims-changes.md"),
    }


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _history(path: str) -> list[dict]:
    """Commits that changed a file, newest first, so later changes of claims stay visible."""
    lines = (_git("log", "--format=%h%x09%cs%x09%s", "--", path) or "").splitlines()
    return [dict(zip(("commit", "date", "subject"), line.split("\t", 2), strict=True)) for line in lines]


def engine() -> dict:
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


def _git(*arguments: str) -> str | None:
    root: Path = repo_root()
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip("\n")
