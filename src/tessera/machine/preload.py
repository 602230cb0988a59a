"""A path of a library that LD_PRELOAD can hold: the dynamic linker splits it at spaces and colons."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import built

#: Where the linker splits LD_PRELOAD, and the begin of what it replaces (``$ORIGIN``).
SPLIT = frozenset(" :$")


def splits(path: Path | str) -> bool:
    """LD_PRELOAD cannot hold this path."""
    return not SPLIT.isdisjoint(str(path))


def preloadable(library: Path) -> Path:
    """``library``, or a symbolic link to it that has no such characters.

    The launcher makes the link, in a private folder of this user, and checks that nobody else can replace it
    (``artifacts/counters/include/counters/preload.h``). A container does not see it.

    Raises:
        TesseraError: there is no safe place for the link; ``code`` is ``preload-path``.
    """
    if not splits(library):
        return library
    launcher = built("mosalloc", "mosalloc-run")
    done = subprocess.run([launcher, "--preload-path", library], capture_output=True, text=True)
    if done.returncode != 0:
        found, _, remedy = done.stderr.strip().partition("\n")
        raise TesseraError(
            f"preload {library}",
            found.removeprefix("mosalloc-run: "),
            remedy.strip().removeprefix("what to do: "),
            code="preload-path",
        )
    return Path(done.stdout.removesuffix("\n"))
