"""``tessera kernel``: build, boot and test the kernel with replicated page tables."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli.kernel_options import accept_series_option, say
from tessera.cli.lab.kernel_experiments import COMMANDS
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.outcomes import is_ok
from tessera.core.tables import frame_rows, print_table
from tessera.lab.kernel.image import VARIANTS

_variant = click.option(
    "--variant",
    default="checked",
    show_default=True,
    type=click.Choice(list(VARIANTS)),
    help="Kernel configuration.",
)


@click.group()
def kernel() -> None:
    """Build, boot and test the kernel with replicated page tables.

    Example: ./run tessera kernel boot --run examples/kernel-hello.sh --out /tmp/guest
    """


for command in COMMANDS:
    kernel.add_command(command)


@kernel.command()
@_variant
@accept_series_option
@click.option("--jobs", type=click.IntRange(1), help="Compilers at a time (default: one for each core).")
def build(variant: str, accept_series: bool, jobs: int | None) -> None:
    """Build a kernel and the programs of the guest; print the folder of the kernel.

    Example: ./run tessera kernel build --variant measure
    """
    from tessera.lab.kernel import image

    folder = image.build_kernel(variant, say, accept_series=accept_series, jobs=jobs)
    image.build_guest(say)
    click.echo(folder)


@kernel.command()
@_variant
@accept_series_option
@click.option("--nodes", default=4, show_default=True, help="Sockets (NUMA nodes) of the guest.")
@click.option("--cpus", type=int, help="Processors of the guest in total.  [default: one per node]")
@click.option("--memory-mb", default=2048, show_default=True, help="Memory of the guest in MB (2^20 bytes).")
@click.option(
    "--icount",
    is_flag=True,
    help="Count instructions: one processor runs at a time, and runs are repeatable.",
)
@click.option(
    "--run",
    "script",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Shell script to run in the guest; files that it writes to /out are copied to --out.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File to copy to /run in the guest; may be repeated.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the files of /out.")
@click.option("--timeout", default=300, show_default=True, help="Stop the guest after this many seconds.")
@click.option("--stress-ng", is_flag=True, help="Install stress-ng in /tests of the guest.")
def boot(
    variant, accept_series, nodes, cpus, memory_mb, icount, script, files, out, timeout, stress_ng
) -> None:
    """Boot a guest and run a script in it; return the exit status of the script.

    Example: ./run tessera kernel boot --nodes 4 --run examples/kernel-hello.sh --out /tmp/guest
    """
    from tessera.lab.kernel import image
    from tessera.lab.kernel.guest import run_in_guest
    from tessera.lab.kernel.qemu import Machine

    machine = Machine(nodes=nodes, cpus=cpus or nodes, memory_mb=memory_mb, icount=icount)
    program = image.program(variant, say, accept_series=accept_series, stress_ng=stress_ng)
    more = {f"/run/{path.name}": path.read_bytes() for path in files}
    done = run_in_guest(
        image.ready(say),
        program,
        script.read_text(),
        out,
        machine=machine,
        files=more,
        timeout_seconds=timeout,
    )
    click.echo(done.text("stdout"), nl=False)
    click.echo(done.text("stderr"), nl=False, err=True)
    say(f"Linux {done.release}: status {done.status} after {done.seconds:.0f} s; files in {out}")
    sys.exit(done.status)


@kernel.command()
@accept_series_option
@click.option(
    "--stress-seconds", default=120, show_default=True, help="Duration of the random operations in seconds."
)
@click.option("--seed", default=1, show_default=True, help="Seed of the random operations.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for logs and tables.")
def test(accept_series: bool, stress_seconds: int, seed: int, out: Path) -> None:
    """Run selftests and stress tests in the guest; check page tables inside (checker) and outside (walker).

    Example: ./run tessera kernel test --stress-seconds 120 --out build/kernel/test
    """
    from tessera.lab.kernel import image
    from tessera.lab.kernel.patch_tests import prove

    program = image.program("checked", say, accept_series=accept_series)
    failures = prove(image.ready(say), program, out, stress_seconds=stress_seconds, seed=seed, say=say)
    for failure in failures:
        click.echo(f"FAILED: {failure}", err=True)
    click.echo(f"{'FAILED' if failures else 'passed'}: logs in {out}")
    sys.exit(1 if failures else 0)


@kernel.command("selftests-mm")
@accept_series_option
@click.option("--seconds", default=120, show_default=True, help="Stop a test after this many seconds.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for logs and the table.")
def selftests_mm(accept_series: bool, seconds: int, out: Path) -> None:
    """Run the kernel's selftests of memory management, without replicas and with replicas on all nodes.

    Example: ./run tessera kernel selftests-mm --out build/kernel/selftests-mm-run
    """
    from tessera.core.results.kernel_tables import SELFTESTS_MM
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image
    from tessera.lab.kernel.third_party_tests import check_selftests

    program = image.program("checked", say, accept_series=accept_series, selftests_mm=True)
    table, failures = check_selftests(image.ready(say), program, out, seconds_each=seconds)
    write_table(SELFTESTS_MM, table, out / SELFTESTS_MM.file)
    print_table(**frame_rows(table))
    for failure in failures:
        click.echo(f"FAILED: {failure}", err=True)
    sys.exit(1 if failures else 0)


@kernel.command("stress-ng")
@accept_series_option
@click.option("--seconds", default=5, show_default=True, help="Duration of each stressor in seconds.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for logs.")
@click.argument("stressors", nargs=-1)
def stress_ng(accept_series: bool, seconds: int, out: Path, stressors: tuple[str, ...]) -> None:
    """Run the memory stressors of stress-ng (--verify), with replicas on all nodes and the checker on.

    STRESSORS: names of stressors (default: all).

    Example: ./run tessera kernel stress-ng --seconds 5 --out build/kernel/stress-ng
    """
    from tessera.core.errors import unknown_name
    from tessera.core.results.kernel_tables import STRESS_NG
    from tessera.core.results.table_io import frame_of, write_table
    from tessera.lab.kernel import image
    from tessera.lab.kernel.third_party_tests import STRESSORS, run_stressors

    for name in stressors:
        if name not in STRESSORS:
            raise unknown_name("stressor", name, tuple(STRESSORS))
    program = image.program("checked", say, accept_series=accept_series, stress_ng=True)
    passed, skipped, failures = run_stressors(image.ready(say), program, out, seconds, list(stressors))
    rows = [(name, "passed", "measured") for name in passed]
    rows += [(name, "skipped", "measured") for name in skipped] + [
        (f, "failed", "measured") for f in failures
    ]
    write_table(STRESS_NG, frame_of(STRESS_NG, rows), out / STRESS_NG.file)
    click.echo(f"passed {len(passed)}: {' '.join(passed)}")
    click.echo(f"skipped {len(skipped)}: {', '.join(skipped)}")
    for failure in failures:
        click.echo(f"FAILED: {failure}", err=True)
    sys.exit(1 if failures else 0)


@kernel.command()
@accept_series_option
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for logs and the table.")
def prove(accept_series: bool, out: Path) -> None:
    """Build a kernel without one hook; test that the checker (inside) and the walker (outside) report it.

    Example: ./run tessera kernel prove --out build/kernel/prove
    """
    from tessera.core.results.kernel_tables import PROVE
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image
    from tessera.lab.kernel.patch_tests import judge_hook, observe_hook

    seen = {}
    for variant in ("checked", "broken"):
        program = image.program(variant, say, accept_series=accept_series)
        seen[variant] = observe_hook(image.ready(say), program, out / variant)
        for line in (*seen[variant].checker[:2], *seen[variant].walker[:2]):
            click.echo(f"{variant}: {line}")
    table = judge_hook(seen)
    write_table(PROVE, table, out / PROVE.file)
    print_table(**frame_rows(table))
    sys.exit(0 if table.passed.all() else 1)


@kernel.command()
@accept_series_option
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for logs and the table.")
def bisect(accept_series: bool, out: Path) -> None:
    """Build and boot the kernel after every patch of the series: about 1 hour on one core the first time.

    Example: ./run tessera kernel bisect --out build/kernel/bisect
    """
    from tessera.core.results.kernel_tables import BISECT
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel.patch_tests import bisect_series

    table = bisect_series(out, say, accept_series=accept_series)
    write_table(BISECT, table, out / BISECT.file)
    print_table(**frame_rows(table, 1))
    sys.exit(0 if (table.outcome == "passed").all() else 1)


@kernel.command()
@click.argument("folder", type=click.Path(path_type=Path))
def outcomes(folder: Path) -> None:
    """Print the outcome of each kernel job in FOLDER; exit status 1 if one did not succeed.

    Example: ./run tessera kernel outcomes results/default/kernel
    """
    from tessera.core.results.outcomes import part_outcomes

    parts = part_outcomes(folder)
    if not parts:
        remedy = "name the kernel folder of a run, e.g. results/default/kernel; ./run reproduce makes it"
        raise TesseraError(
            f"outcomes of kernel jobs in {folder}", "the folder has none", remedy, exit_code=EXIT_FAILED
        )
    for name, outcome in parts.items():
        click.echo(f"{name}: {outcome['status']} after {outcome['seconds']:.0f} s")
        if outcome["message"]:
            click.echo(outcome["message"], err=True)
    sys.exit(0 if all(is_ok(outcome) for outcome in parts.values()) else 1)
