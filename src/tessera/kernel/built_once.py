"""Build results with names that are hashes of their inputs; one process at a time builds each of them."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tessera.core.paths import build_dir
from tessera.machine.container.toolchain import Toolchain


def key(tools: Toolchain, files: Iterable[Path], *words: str) -> str:
    """Hash (16 digits) of the files' names and contents, of the words and of the tools."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    for word in (*words, _identity(tools)):
        digest.update(f"{word}\0".encode())
    return digest.hexdigest()[:16]


def folder() -> Path:
    """The folder of build results."""
    return build_dir("kernel")


@contextmanager
def locked(name: str) -> Iterator[None]:
    """One build of a thing at a time; a second one waits."""
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / f".{name}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _identity(tools: Toolchain) -> str:
    """The inputs of an object's hash; the engine's version is not one of them."""
    facts = tools.describe()
    facts.pop("engine_version", None)
    return json.dumps(facts, sort_keys=True)
