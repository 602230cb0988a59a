"""Steps of the workflow: bundles take part in a run, each verified, kept beside the results, and judged if
nothing bars it.

Measured cells get a results tree of their own (``Tree.machines``), with fits of models.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import making_folder, write_text
from tessera.core.progress import Show, download_progress
from tessera.core.results.tree import ResultsTree
from tessera.lab.study import Count, Run, Seed, Texts, study
from tessera.measure.bundles import store
from tessera.measure.bundles.bundle import Bundle
from tessera.measure.bundles.merge import write
from tessera.measure.bundles.verify import Verified, verify_and_read


@study()
def accept(run: Run, bundle: Texts) -> None:
    """Verify bundles before a run; write their paths to --out, a line each.

    A bundle that fails a check, or is a rehearsal, ends the command with its name. One that is barred is kept
    for the report, and its cells decide no claim.

    Example: ./run tessera dev step accept bundle=bundles/my-bundle --out /tmp/paths.txt

    Args:
        bundle: folder, zip file, or a DOI of bundles/index.csv, which is downloaded.
    """
    with download_progress() as progress:
        paths = located(bundle, store.default_folder(), progress=progress)
    _tell(accepted(paths), run.say)
    here = Path.cwd()
    lines = [path.relative_to(here) if path.is_relative_to(here) else path for path in paths]
    write_text(run.out, "".join(f"{path}\n" for path in lines))


@study()
def machines(run: Run, bundle: Texts = (), seed: Seed = 1, orders: Count = 10) -> None:
    """Verify bundles, write their cells as a results tree of their own, and fit models to them.

    --out is a JSON file with the list of bundles; everything else in its folder is replaced. Bundles are
    refused and barred as by the step accept.

    Example: ./run tessera dev step machines --out /tmp/machines/bundles.json

    Args:
        bundle: folder or zip file.
        seed: of the folds.
        orders: random orders of layouts, for claims about adaptive orders.
    """
    if dois := [doi for word in bundle if (doi := doi_unless_path(word))]:
        raise TesseraError(
            f"bundle {dois[0]}", "a step of a run downloads nothing",
            f"tessera measure bundle fetch {dois[0]} downloads it and prints its path: name this path",
            code="bundle-doi",
        )  # fmt: skip
    paths = located(bundle, store.default_folder())
    _tell(take_part(paths, run.out, seed=seed, orders=orders, say=run.say), run.say)


def _tell(entries: Iterable[AcceptedBundle], say: Callable[[str], None]) -> None:
    for entry in entries:
        decides = "its cells decide claims" if not entry.bars else f"barred: {'; '.join(entry.bars)}"
        say(f"bundle {entry.identity}: all checks pass; {decides}")


@dataclass(frozen=True)
class AcceptedBundle:
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
        TesseraError: as ``listed_in_deposit`` and ``fetch_deposit`` of :mod:`tessera.measure.bundles.store`.
    """
    found: list[Path] = []
    for word in words:
        if doi := doi_unless_path(word):
            found += [
                store.fetch_deposit(one, progress=progress) for one in store.listed_in_deposit(doi, root)
            ]
        else:
            found.append(Path(word))
    return list(dict.fromkeys(found))


def doi_unless_path(word: str) -> str:
    """The DOI that a word names; empty if it names a path."""
    return "" if os.path.exists(word) else store.doi_of(word)  # Path.exists raises for long names


def accepted(sources: Iterable[Path], *, rehearsals: bool = False) -> list[AcceptedBundle]:
    """Verify bundles (folders or zip files); one that is named twice counts once.

    Args:
        rehearsals: accept bundles with simulated counts, without their bar. Only tests do this.

    Raises:
        TesseraError: nothing is at a path, a check fails (``bundle-fails``, with all checks that fail), or a
            bundle is a rehearsal (``bundle-rehearsal``).
    """
    found: dict[str, AcceptedBundle] = {}
    for source in sources:
        done, files = verify_and_read(source)
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
        identity = store.bundle_id(done.bundle)
        found.setdefault(identity, AcceptedBundle(identity, done.bundle, files, bars))
    return list(found.values())


def take_part(
    sources: Sequence[Path],
    out: Path,
    *,
    seed: int,
    orders: int,
    rehearsals: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> list[AcceptedBundle]:
    """Write the tree of measured cells anew, with fits, and ``out``: the list of the bundles in it.

    Args:
        out: JSON file in the folder of the tree. Everything else in this folder is replaced.
        seed, orders: as :func:`write_fitted`.
        rehearsals: as :func:`accepted`.

    Raises:
        TesseraError: as :func:`accepted`, or two bundles that decide are of one machine (``bundle-twice``).
            Nothing is written then.
    """
    entries, tree = accepted(sources, rehearsals=rehearsals), ResultsTree(out.parent)
    deciding = [entry.bundle for entry in entries if not entry.bars]
    with making_folder(tree.root) as folder:
        made = ResultsTree(folder)
        if deciding:
            write_fitted(deciding, made, seed=seed, orders=orders, rehearsals=rehearsals, say=say)
        for entry in entries:
            write(entry.files, made.bundle(entry.identity))
        listed = [{"id": entry.identity, "bars": list(entry.bars)} for entry in entries]
        write_text(made.root / out.name, json.dumps(listed, indent=1) + "\n")
    return entries


def _fails(source: Path, done: Verified) -> TesseraError:
    failed = [f"check {check.name} fails: {check.reasons[0]}" for check in done.checks if not check.passed]
    return TesseraError(
        f"bundle {source}", "; ".join(failed),
        f"tessera measure bundle verify {source} prints all checks",
        exit_code=EXIT_FAILED, code="bundle-fails",
    )  # fmt: skip


# Fits of measured cells: all tables that findings read, for pairs with all layouts of MICRO'20.
#
# Imports stand inside functions: who only verifies bundles needs no models.

FITTED_LAYOUTS = 54  #: MICRO'20 VI-B; the test point 1gb is not among them


def write_fitted(
    bundles: Sequence[Bundle],
    tree: ResultsTree,
    *,
    seed: int,
    orders: int,
    rehearsals: bool = False,
    say: Callable[[str], None],
) -> None:
    """Write the cells of bundles into ``tree``, and the fits of the pairs with all layouts.

    Args:
        seed: seed of the folds.
        orders: random orders of layouts to compare with the adaptive one.
        rehearsals: accept bundles with simulated counts. Only tests do this.
        say: told of a pair that has fewer layouts.

    Raises:
        TesseraError: as :func:`tessera.report.machines.bundle_tree.write_tree`.
    """
    from tessera.cli.pipeline.fit import adaptive, fit, one_gb
    from tessera.fit.collected_fits import collect_fits, write_collected
    from tessera.report.machines.bundle_tree import write_tree

    paths = write_tree(bundles, tree.root, rehearsals=rehearsals)
    if paths := [path for path in paths if _has_all_layouts(path, say)]:
        run = Run(tree.all_models)
        fit.function(run, paths, seed, tree.layouts)
        adaptive.function(run, paths, orders)
        one_gb.function(run, paths)
        write_collected(
            collect_fits([tree.all_models / p.parent.name / p.stem for p in paths]), tree.all_models
        )


def _has_all_layouts(cells: Path, say: Callable[[str], None]) -> bool:
    """Whether models are fitted to the cells of this pair: findings about models are about 54 layouts."""
    from tessera.core.layouts.layout import ALL_1GB
    from tessera.core.results.table_io import read_cells

    found = read_cells(cells)
    count = found.loc[found["layout"] != ALL_1GB, "layout"].nunique()
    if count < FITTED_LAYOUTS:
        name = f"{cells.parent.name} on {cells.stem}"
        say(f"{name}: {count} layouts, so no model is fitted; models need {FITTED_LAYOUTS}")
    return count >= FITTED_LAYOUTS
