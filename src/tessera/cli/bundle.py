"""``tessera bundle``: what real machines measured, checked and collected."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli.bundle_fetch import fetch
from tessera.cli.bundle_judge import judge

PATH = click.Path(path_type=Path)


@click.group()
def bundle() -> None:
    """Check, show, merge and collect bundles: runs with hardware counters on real machines.

    A bundle is a folder (or a zip file of it) that `./run measure` writes. docs/bundles.md describes it.

    Example: ./run tessera bundle verify bundles/broadwell-0123abcd-4567cdef
    """


@bundle.command()
@click.argument("source", metavar="FOLDER|ZIP", type=PATH)
@click.option("--out", type=PATH, help="Also write the checks as a CSV file: check,result,about,reason.")
def verify(source: Path, out: Path | None) -> None:
    """Check a bundle: sums, cells recomputed from its counts, and relations that hold on every processor.

    The checks guard against mistakes, not against fraud: counts that someone invented with care pass. Exit
    status 0 if every check passes, 1 if one fails. A bundle that passes may still be barred from deciding
    claims, for example by SMT or as a rehearsal: the last lines give the reasons.

    Example: ./run tessera bundle verify my-machine.zip --out checks.csv
    """
    from tessera.bundles.verify import verify as run
    from tessera.core.errors import EXIT_FAILED
    from tessera.core.files import check_target
    from tessera.core.tables import print_table

    if out is not None:
        check_target(out)
    done = run(source)
    rows = [(_word(check), check.name, reason) for check in done.checks
            for reason in (check.reasons or (check.about,))]  # fmt: skip
    click.echo(f"{source}:")
    print_table(("", "check", "about, or what is wrong"), rows, whole=(0, 1))
    if out is not None:
        _write(done, out)
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


def _word(check) -> str:
    return "PASS" if check.passed else "FAIL"


def _write(done, out: Path) -> None:
    import csv

    from tessera.core.files import writing

    with writing(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("check", "result", "about", "reason"))
        for check in done.checks:
            for reason in check.reasons or ("",):
                writer.writerow((check.name, _word(check), check.about, reason))
        for reason in done.bars:
            writer.writerow(("claims", "BARRED", "what keeps the bundle from deciding claims", reason))


@bundle.command()
@click.argument("source", metavar="FOLDER|ZIP", type=PATH)
def show(source: Path) -> None:
    """Print every text that a bundle contains, then a summary.

    Read the texts before you publish: names of people, machines and folders should not be there.

    Example: ./run tessera bundle show my-bundle
    """
    from tessera.bundles.contents import contents
    from tessera.bundles.reader import parse
    from tessera.bundles.show import summary, texts
    from tessera.core.tables import print_table

    files = contents(source)
    found = parse(str(source), files)
    rows = [(file, field, text) for file, field, values in texts(files) for text in values]
    print_table(("file", "field", "text"), rows, whole=(0,))
    click.echo()
    print_table((), summary(found), whole=(0,))


@bundle.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@click.option("--out", type=PATH, required=True, help="Folder of the new bundle; it must not exist.")
def merge(first: Path, second: Path, out: Path) -> None:
    """Merge two parts that one machine measured into one bundle.

    Both must pass all checks. Machine, microcode, kernel, protocol and mode must be equal. The parts have
    different workloads, or further rounds of the same layouts. Runs of the second part get new numbers.

    Example: ./run tessera bundle merge monday tuesday --out both
    """
    from tessera.bundles import merge as merging
    from tessera.bundles.reader import read
    from tessera.bundles.verify import passed

    merging.write(merging.merged(passed(first), passed(second)), out)
    click.echo(f"{len(read(out).runs)} runs -> {out}")


@bundle.command()
@click.argument("source", metavar="FOLDER|ZIP", type=PATH)
@click.option("--into", type=PATH, help="Folder of all bundles.  [default: bundles/ of the checkout]")
def add(source: Path, into: Path | None) -> None:
    """Verify a bundle and copy it to bundles/<id>.

    A bundle that fails a check, a rehearsal, and runs that are there already are rejected.

    Example: ./run tessera bundle add my-bundle
    """
    from tessera.bundles import store

    into = into or store.default_folder()
    click.echo(f"{into / store.add(source, into)}")


@bundle.command("list")
@click.option("--from", "root", type=PATH, help="Folder of all bundles.  [default: bundles/ of the checkout]")
def list_(root: Path | None) -> None:
    """List the bundles of the checkout: folders, and deposits that bundles/index.csv names.

    Example: ./run tessera bundle list
    """
    from tessera.bundles import store
    from tessera.core.tables import print_table

    none = root is None and not store.default_folder().exists()
    root = root or store.default_folder()
    found = [] if none else store.entries(root)
    if not found:
        click.echo(f"{root} has no bundle; ./run tessera bundle add FOLDER adds one")
        return
    print_table(("id", "class", "ok runs", "day", "place"), map(store.described, found), right=(2,))


bundle.add_command(fetch)
bundle.add_command(judge)
