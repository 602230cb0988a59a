"""The contents of a package: the committed code, and a results folder without cache, logs and traces."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import repo_root
from tessera.results.tree import Tree

#: Folders of a results tree that are not packed.
LEFT_OUT = frozenset({"cache", "logs"})
TRACE_SUFFIX = ".tst"


@dataclass(frozen=True)
class Commit:
    """The committed state: its hash, its time (seconds since 1970), and whether the tree differs from it."""

    hash: str
    seconds: int
    dirty: bool


def commit() -> Commit:
    """The last commit of the checkout.

    Raises:
        TesseraError: not a git checkout.
    """
    found, seconds = _git("rev-parse", "HEAD").strip(), _git("show", "-s", "--format=%ct", "HEAD").strip()
    return Commit(found, int(seconds), bool(_git("status", "--porcelain").strip()))


def code(found: Commit) -> Iterator[tuple[str, bytes, bool]]:
    """Path, content and executable bit of every committed file, in the order of their paths.

    Raises:
        TesseraError: an entry is not a regular file (a symbolic link could point anywhere after unpacking).
    """
    with tempfile.TemporaryFile() as spool:
        _run(["git", "archive", "--format=tar", found.hash], stdout=spool)
        spool.seek(0)
        with tarfile.open(fileobj=spool) as archive:
            for info in sorted(archive.getmembers(), key=lambda info: info.name):
                if info.isdir():
                    continue
                if not info.isreg():
                    raise TesseraError(
                        f"package of {info.name}",
                        "git has a link or a device under this name, but packages hold only files",
                        "replace it with a file, or add it to .gitattributes with export-ignore",
                        code="package-not-a-file",
                        exit_code=EXIT_FAILED,
                    )
                yield info.name, archive.extractfile(info).read(), bool(info.mode & 0o100)


def data(results: Path, traces: bool) -> list[Path]:
    """Files of a results folder that are packed, sorted.

    Raises:
        TesseraError: the folder is missing, has no ``cells.csv``, or has a symbolic link.
    """
    if not (Tree(results).cells).is_file():
        raise TesseraError(
            f"results {results}",
            "this folder has no cells.csv" if results.is_dir() else "no such folder",
            "name the results folder of a finished run, e.g. results/default",
        )
    found = []
    for path in sorted(results.rglob("*")):
        if path.relative_to(results).parts[0] in LEFT_OUT or path.suffix == ".tmp":
            continue
        if path.is_symlink():
            raise TesseraError(
                f"package of {path}",
                "this is a symbolic link, but packages hold only files",
                "replace the link with its target",
                exit_code=EXIT_FAILED,
            )
        if path.is_file() and (traces or path.suffix != TRACE_SUFFIX):
            found.append(path)
    return found


def traces_bytes(results: Path) -> int:
    """Bytes of all traces, packed or not."""
    return sum(path.stat().st_size for path in results.rglob(f"*{TRACE_SUFFIX}"))


def _git(*words: str) -> str:
    return _run(["git", *words], stdout=subprocess.PIPE).stdout.decode()


def _run(words: list[str], stdout) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(words, cwd=repo_root(), stdout=stdout, stderr=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"") or str(error).encode()
        raise TesseraError(
            f"code of {repo_root()} ({' '.join(words[:2])})",
            said.decode(errors="replace").strip(),
            "make packages in a git checkout with at least one commit",
        ) from None
