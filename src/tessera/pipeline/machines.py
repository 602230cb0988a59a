"""Bundles take part in a run: each is verified, kept beside the results, and judged if nothing bars it.

Measured cells get a results tree of their own (``Tree.machines``).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.bundles import deposits, store
from tessera.bundles.contents import contents
from tessera.bundles.merge import write
from tessera.bundles.model import Bundle
from tessera.bundles.verify import Verified, verify
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.core.progress import Show
from tessera.pipeline.measured_fits import write_fitted
from tessera.results.tree import Tree


@dataclass(frozen=True)
class Entry:
    """A bundle that takes part. ``bars``: why it decides no claim; empty if it may."""

    identity: str
    bundle: Bundle
    files: dict[str, bytes]
    bars: tuple[str, ...]


def located(
    words: Sequence[str], root: Path, *, progress: Show = lambda name, done, total: None
) -> list[Path]:
    """Paths of bundles that are named by path or by DOI, in order, each once.

    A word that is a path of something is this path. A DOI stands for every bundle that the index in ``root``
    has of it; they are downloaded.

    Raises:
        TesseraError: as :func:`tessera.bundles.deposits.listed` and :func:`tessera.bundles.deposits.fetch`.
    """
    found: list[Path] = []
    for word in words:
        if doi := doi_of(word):
            found += [deposits.fetch(one, progress=progress) for one in deposits.listed(doi, root)]
        else:
            found.append(Path(word))
    return list(dict.fromkeys(found))


def doi_of(word: str) -> str:
    """The DOI that a word names; empty if it names a path."""
    return "" if os.path.exists(word) else deposits.doi_of(word)  # Path.exists raises for long names


def accepted(sources: Iterable[Path], *, rehearsals: bool = False) -> list[Entry]:
    """Verify bundles (folders or zip files); one that is named twice counts once.

    Args:
        rehearsals: accept bundles with simulated counts, without their bar. Only tests do this.

    Raises:
        TesseraError: nothing is at a path, a check fails (``bundle-fails``, with all checks that fail), or a
            bundle is a rehearsal (``bundle-rehearsal``).
    """
    found: dict[str, Entry] = {}
    for source in sources:
        done = verify(source)
        if not done.passed or done.bundle is None:
            raise _fails(source, done)
        bars = done.bars
        if done.bundle.about.rehearsal:
            if not rehearsals:
                raise TesseraError(
                    f"bundle {source}", "it is a rehearsal: its counts are simulated",
                    "name bundles of real machines", exit_code=EXIT_FAILED, code="bundle-rehearsal",
                )  # fmt: skip
            bars = tuple(bar for bar in bars if not bar.startswith("rehearsal"))
        identity = store.identity(done.bundle)
        found.setdefault(identity, Entry(identity, done.bundle, contents(source), bars))
    return list(found.values())


def take_part(
    sources: Sequence[Path],
    out: Path,
    *,
    seed: int,
    orders: int,
    rehearsals: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> list[Entry]:
    """Write the tree of measured cells anew, with fits, and ``out``: the list of the bundles in it.

    Args:
        out: JSON file in the folder of the tree. Everything else in this folder is replaced.
        seed, orders: as :func:`tessera.pipeline.measured_fits.fit`.
        rehearsals: as :func:`accepted`.

    Raises:
        TesseraError: as :func:`accepted`, or two bundles that decide are of one machine (``bundle-twice``).
            Nothing is written then.
    """
    entries, tree = accepted(sources, rehearsals=rehearsals), Tree(out.parent)
    deciding = [entry.bundle for entry in entries if not entry.bars]
    made = Tree(out.parent.with_name(f"{out.parent.name}.new"))
    shutil.rmtree(made.root, ignore_errors=True)
    try:
        if deciding:
            write_fitted(deciding, made, seed=seed, orders=orders, rehearsals=rehearsals, say=say)
        for entry in entries:
            write(entry.files, made.bundle(entry.identity))
        listed = [{"id": entry.identity, "bars": list(entry.bars)} for entry in entries]
        write_text(made.root / out.name, json.dumps(listed, indent=1) + "\n")
        shutil.rmtree(tree.root, ignore_errors=True)
        os.replace(made.root, tree.root)
    finally:
        shutil.rmtree(made.root, ignore_errors=True)
    return entries


def _fails(source: Path, done: Verified) -> TesseraError:
    failed = [f"check {check.name} fails: {check.reasons[0]}" for check in done.checks if not check.passed]
    return TesseraError(
        f"bundle {source}", "; ".join(failed), f"tessera bundle verify {source} prints all checks",
        exit_code=EXIT_FAILED, code="bundle-fails",
    )  # fmt: skip
