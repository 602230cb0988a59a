"""``tessera measure bundle``: what real machines measured, checked, collected, downloaded and judged."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup

PATH = click.Path(path_type=Path)


@click.group(cls=OldNamesGroup)
def bundle() -> None:
    """Check, show, merge and collect bundles: runs with hardware counters on real machines.

    A bundle is a folder (or a zip file of it) that `./run measure` writes.
    docs/reference/bundle-format.md describes it.

    Example: ./run tessera measure bundle verify bundles/broadwell-0123abcd-4567cdef
    """


@bundle.command()
@click.argument("source", metavar="FOLDER|ZIP", type=PATH)
@options.out("Also write the checks as a CSV file: check,result,about,reason.", required=False)
def verify(source: Path, out: Path | None) -> None:
    """Check a bundle: sums, cells recomputed from its counts, and relations that hold on every processor.

    The checks guard against mistakes, not against fraud: counts that someone invented with care pass. Exit
    status 0 if every check passes, 1 if one fails. A bundle that passes may still be barred from deciding
    claims, for example by SMT or as a rehearsal: the last lines give the reasons.

    Example: ./run tessera measure bundle verify my-machine.zip --out checks.csv
    """
    from tessera.core.errors import EXIT_FAILED
    from tessera.core.files import check_target
    from tessera.core.tables import print_table
    from tessera.measure.bundles.verify import verify_bundle as run

    if out is not None:
        check_target(out)
    done = run(source)
    rows = [(_outcome_word(check), check.name, reason) for check in done.checks
            for reason in (check.reasons or (check.about,))]  # fmt: skip
    click.echo(f"{source}:")
    print_table(("", "check", "about, or what is wrong"), rows, whole=(0, 1))
    if out is not None:
        _write_checks(done, out)
    failed = sum(not check.passed for check in done.checks)
    click.echo(f"\n{len(done.checks) - failed} checks pass, {failed} fail. They find mistakes, not fraud.")
    if done.passed and done.bars:
        click.echo("It decides no claim:")
    for reason in done.bars if done.passed else ():
        click.echo(f"  {reason}")
    if done.decides:
        click.echo("Nothing bars it from deciding claims.")
    if not done.passed:
        sys.exit(EXIT_FAILED)


def _outcome_word(check) -> str:
    from tessera.core.checks import FAIL, PASS

    return PASS if check.passed else FAIL


def _write_checks(done, out: Path) -> None:
    import csv

    from tessera.core.files import writing

    with writing(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("check", "result", "about", "reason"))
        for check in done.checks:
            for reason in check.reasons or ("",):
                writer.writerow((check.name, _outcome_word(check), check.about, reason))
        for reason in done.bars:
            writer.writerow(("claims", "BARRED", "what keeps the bundle from deciding claims", reason))


@bundle.command()
@click.argument("source", metavar="[FOLDER|ZIP]", type=PATH, required=False)
@options.bundles
def show(source: Path | None, root: Path | None) -> None:
    """Print every text that a bundle contains, then a summary. Without a bundle: list all of the checkout.

    Read the texts before you publish: names of people, machines and folders should not be there. The list
    has the folders in bundles/, and deposits that bundles/index.csv names.

    Example: ./run tessera measure bundle show my-bundle
    """
    from tessera.core.tables import print_table
    from tessera.measure.bundles.archive import contents
    from tessera.measure.bundles.reader import parse_bundle
    from tessera.measure.bundles.texts import bundle_summary, texts_of_files

    if source is None:
        _list(root)
        return
    files = contents(source)
    found = parse_bundle(str(source), files)
    rows = [(file, field, text) for file, field, values in texts_of_files(files) for text in values]
    print_table(("file", "field", "text"), rows, whole=(0,))
    click.echo()
    print_table((), bundle_summary(found), whole=(0,))


def _list(root: Path | None) -> None:
    from tessera.core.tables import print_table
    from tessera.measure.bundles import store

    none = root is None and not store.default_folder().exists()
    root = root or store.default_folder()
    found = [] if none else store.stored_bundles(root)
    if not found:
        click.echo(f"{root} has no bundle; ./run tessera measure bundle add FOLDER adds one")
        return
    print_table(("id", "class", "ok runs", "day", "place"), map(store.describe_entry, found), right=(2,))


@bundle.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@options.out("Folder of the new bundle; it must not exist.")
def merge(first: Path, second: Path, out: Path) -> None:
    """Merge two parts that one machine measured into one bundle.

    Both must pass all checks. Machine, microcode, kernel, protocol and mode must be equal. The parts have
    different workloads, or further rounds of the same layouts. Runs of the second part get new numbers.

    Example: ./run tessera measure bundle merge monday tuesday --out both
    """
    from tessera.measure.bundles import merge as merging
    from tessera.measure.bundles.reader import read_bundle
    from tessera.measure.bundles.verify import verified_bundle

    merging.write(merging.merged(verified_bundle(first), verified_bundle(second)), out)
    click.echo(f"{len(read_bundle(out).runs)} runs -> {out}")


@bundle.command()
@click.argument("source", metavar="FOLDER|ZIP", type=PATH)
@options.bundles
def add(source: Path, root: Path | None) -> None:
    """Verify a bundle and copy it to bundles/<id>.

    A bundle that fails a check, a rehearsal, and runs that are there already are rejected.

    Example: ./run tessera measure bundle add my-bundle
    """
    from tessera.measure.bundles import store

    root = root or store.default_folder()
    click.echo(f"{root / store.add_bundle(source, root)}")


# ``tessera measure bundle fetch``: download bundles that ``bundles/index.csv`` lists.


@bundle.command()
@click.argument("dois", metavar="DOI...", nargs=-1, required=True)
@options.bundles
def fetch(dois: tuple[str, ...], root: Path | None) -> None:
    """Download the bundles of a DOI that bundles/index.csv lists, and print the path of each zip file.

    The SHA-256 of a file must be that of the index. A file that is here already is not downloaded again, and
    an interrupted download continues. Records of Zenodo only.

    Example: ./run tessera measure bundle fetch 10.5281/zenodo.1234567
    """
    from tessera.core.errors import TesseraError
    from tessera.core.progress import download_progress
    from tessera.measure.bundles import store

    for word in dois:
        doi = store.doi_of(word)
        if not doi:
            raise TesseraError(
                f"measure bundle fetch {word}",
                "it is no DOI",
                "name a DOI of: tessera measure bundle show",
                code="bundle-doi",
            )
        for entry in store.listed_in_deposit(doi, root or store.default_folder()):
            with download_progress() as progress:
                path = store.fetch_deposit(entry, progress=progress)
            click.echo(path)


# ``tessera measure bundle judge``: what bundles say about the findings of the papers.


@bundle.command()
@click.argument("sources", metavar="BUNDLE...", nargs=-1, type=PATH, required=True)
@options.out("Folder for cells, models and claims; it must be new.")
@options.seed("the folds")
@click.option("--orders", type=click.IntRange(min=1), default=10, show_default=True,
              help="Random orders of layouts, for claims about adaptive orders.")  # fmt: skip
def judge(sources: tuple[Path, ...], out: Path, seed: int, orders: int) -> None:
    """Fit models to the cells of bundles and judge the findings of the papers by machine.

    A finding is REPRODUCED if it holds on every machine of its class, else it DEVIATES. A bundle that covers
    a part of a finding's workloads decides it only where more workloads can't change the result. Machines of
    other classes have a table of their own, claims_elsewhere.csv. Bundles that fail a check or are barred
    are rejected. Several bundles of one machine must be merged first.

    Example: ./run tessera measure bundle judge bundles/* --out /tmp/judged
    """
    from tessera.core.errors import EXIT_FAILED, TesseraError
    from tessera.measure.bundles.verify import fails, verify_bundle

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TesseraError(f"--out {out}", "it exists and is not empty", "name a new folder")
    bundles = []
    for source in sources:
        done = verify_bundle(source)
        if not done.passed:
            raise fails(str(source), done)
        if done.bars:
            raise TesseraError(
                f"judge claims with {source}",
                "; ".join(done.bars),
                "measure again without these conditions; docs/reference/counters.md explains them",
                exit_code=EXIT_FAILED,
                code="bundle-barred",
            )
        bundles.append(done.bundle)
    judged = judge_bundles(bundles, out, seed=seed, orders=orders)
    _print_verdicts(judged)


def judge_bundles(bundles, out: Path, *, seed: int, orders: int, rehearsals: bool = False):
    """Write the folder; returns :class:`tessera.report.machines.Judged`."""
    from tessera.cli.pipeline.bundles import write_fitted
    from tessera.core.results.report_tables import CLAIMS, ELSEWHERE
    from tessera.core.results.table_io import write_table
    from tessera.core.results.tree import ResultsTree
    from tessera.report import machines

    tree = ResultsTree(out)
    write_fitted(bundles, tree, seed=seed, orders=orders, rehearsals=rehearsals, say=_say)
    judged = machines.judge_machines(out)
    write_table(CLAIMS, judged.claims, tree.claims)
    write_table(ELSEWHERE, judged.elsewhere, tree.claims_elsewhere)
    return judged


def _say(text: str) -> None:
    click.echo(text, err=True)


def _print_verdicts(judged) -> None:
    from tessera.core.tables import print_table
    from tessera.report.claims.verdicts import DEVIATES, REPRODUCED, UNDECIDED

    table = judged.claims
    decided = table["verdict"].isin((REPRODUCED, DEVIATES, UNDECIDED)) & (table["provenance"] == "measured")
    table = table[(table["kind"] == "finding") & decided]
    rows = [(r.verdict, r.id, r.obtained, r.published, r.reason) for r in table.itertuples()]
    if rows:
        print_table(("verdict", "finding", "obtained", "published", "reason"), rows, whole=(0, 1))
    else:
        click.echo("No finding is decided by these bundles.")
    rows = [tuple(row) for row in judged.elsewhere.itertuples(index=False)]
    if rows:
        click.echo("\non processors of other classes:")
        print_table(tuple(judged.elsewhere.columns), rows, whole=(0, 1))
